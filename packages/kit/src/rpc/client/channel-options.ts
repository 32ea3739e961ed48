import type { ChannelOptions } from "@grpc/grpc-js";
import { flowWindowBytes } from "../wire/message-limit.ts";
import { replicaOptions } from "../replicas/replica-balancer.ts";
import type { Replicas } from "../replicas/replicas.ts";

/**
 * @param replicas is told which servers are connected
 * @param windowBytes bytes that the server may send on a stream before the client has read them
 */
export function channelOptions(
  replicas: Replicas,
  messageBytesMax: number,
  windowBytes = flowWindowBytes,
): ChannelOptions {
  return {
    ...replicaOptions(replicas),
    "grpc.service_config_disable_resolution": 1,
    "grpc.max_send_message_length": messageBytesMax,
    "grpc.max_receive_message_length": messageBytesMax,
    "grpc-node.flow_control_window": windowBytes,
    // grpc-js retries a request that a draining server refused only if the request fits these
    // buffers: by default 1 MiB for a call, and 16 MiB for all calls of the channel.
    "grpc.per_rpc_retry_buffer_size": messageBytesMax,
    "grpc.retry_buffer_size": messageBytesMax * 8,
    // A restarted server is found again within 0.6 s (grpc-js adds up to a fifth), before the next
    // one is restarted; the defaults are 1 s and 120 s.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 500,
    // grpc-js resolves DNS again only when a connection ends, and by default at most every 30 s,
    // which is too rare for a rolling restart.
    "grpc.dns_min_time_between_resolutions_ms": 2_000,
    // A lost node or a hanging process sends no FIN. While calls wait for an answer, the client
    // closes the connection after 7 s, and makes it again once the server answers.
    "grpc.keepalive_time_ms": 2_000,
    "grpc.keepalive_timeout_ms": 5_000,
    // Internal calls must not go through the proxy of http_proxy.
    "grpc.enable_http_proxy": 0,
    // By default the channels of a process share connections, which then stay open when one channel
    // is closed.
    "grpc.use_local_subchannel_pool": 1,
  };
}
