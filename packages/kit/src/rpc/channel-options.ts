import type { ChannelOptions } from "@grpc/grpc-js";
import { flowWindowBytes } from "./message-limit.ts";

/** How a channel to another service behaves. */
export function channelOptions(messageBytesMax: number): ChannelOptions {
  return {
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    "grpc.service_config_disable_resolution": 1,
    "grpc.max_send_message_length": messageBytesMax,
    "grpc.max_receive_message_length": messageBytesMax,
    "grpc-node.flow_control_window": flowWindowBytes,
    // A request that does not fit these buffers (1 MiB by default) is not repeated when a draining server refuses it.
    "grpc.per_rpc_retry_buffer_size": messageBytesMax,
    "grpc.retry_buffer_size": messageBytesMax * 8,
    // A restarted server is found again within seconds; the defaults are 1 s and 120 s.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 2_000,
    // DNS is asked again only when a connection ends, and by default not twice in 30 s: too rarely for a rolling restart.
    "grpc.dns_min_time_between_resolutions_ms": 2_000,
    // A node that vanishes sends no FIN: without pings its share of the calls would run into deadlines for minutes.
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 5_000,
    // Internal calls never go through the proxy that http_proxy names.
    "grpc.enable_http_proxy": 0,
    // Otherwise channels of one process share connections, and close() of one leaves them open.
    "grpc.use_local_subchannel_pool": 1,
  };
}
