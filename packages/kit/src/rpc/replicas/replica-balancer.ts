import { type ChannelOptions, connectivityState, experimental, Metadata } from "@grpc/grpc-js";
import type { CertificateSource, ServiceCredentials } from "../../tls/service-credentials.ts";
import { Replica, Replicas, silentMs } from "./replicas.ts";

type LoadBalancer = experimental.LoadBalancer;
type PickResult = experimental.PickResult;

/** A connected server, and the pick that sends a call to it. */
interface Server {
  readonly pick: PickResult;
  readonly replica: Replica;
}

const balancerName = "vidimus_replicas";
/** Options by which a channel passes values to its balancer, which grpc-js constructs. */
const replicasOption = "vidimus.replicas";
const certificateOption = "vidimus.certificate";
/**
 * Channel option that counts the changes of a channel's certificate. grpc-js makes new connections
 * when an option has changed.
 */
const generationOption = "vidimus.certificate_generation";
/** Metadata key that marks a prompt call for the balancer, which removes it before sending. */
const promptKey = "vidimus-prompt";

/**
 * Returns the channel options of a balancer that spreads calls over all servers and avoids silent
 * ones (`silentMs`) while there are others. Connections are kept by grpc-js's `round_robin`.
 */
export function replicaOptions(replicas: Replicas): ChannelOptions {
  if (!experimental.isLoadBalancerNameRegistered(balancerName)) {
    experimental.registerLoadBalancerType(balancerName, ReplicaBalancer, ReplicaBalancerConfig);
  }
  return {
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ [balancerName]: {} }] }),
    [replicasOption]: replicas,
  };
}

/**
 * Returns channel options by which a changed certificate renews the connections, so that no new
 * call uses a connection of the old certificate or of a removed authority. New calls wait for the
 * new connections; running ones end on the old ones.
 */
export function renewalOptions({ certificate }: ServiceCredentials): ChannelOptions {
  return { [certificateOption]: certificate };
}

/**
 * Marks a call that a working server answers at once. Long polls must not be marked: their servers
 * would look silent while they wait.
 */
export function markPrompt(metadata: Metadata): void {
  metadata.set(promptKey, "1");
}

class ReplicaBalancerConfig implements experimental.TypedLoadBalancingConfig {
  static createFromJson(): ReplicaBalancerConfig {
    return new ReplicaBalancerConfig();
  }

  getLoadBalancerName(): string {
    return balancerName;
  }

  toJsonObject(): object {
    return { [balancerName]: {} };
  }
}

class ReplicaBalancer implements LoadBalancer {
  readonly #connections: experimental.ChildLoadBalancerHandler;
  readonly #known = new WeakMap<experimental.SubchannelInterface, Replica>();
  #replicas = new Replicas();
  #certificate: CertificateSource | undefined;
  #generation = 0;
  #latest: Parameters<LoadBalancer["updateAddressList"]> | undefined;
  readonly #renew = () => {
    this.#generation += 1;
    if (this.#latest) this.updateAddressList(...this.#latest);
  };

  constructor(helper: experimental.ChannelControlHelper) {
    const updateState: typeof helper.updateState = (state, picker, error) => {
      const servers = state === connectivityState.READY ? this.#serversOf(picker) : [];
      this.#replicas.set(servers.map(({ replica }) => replica));
      helper.updateState(state, servers.length > 0 ? new ReplicaPicker(servers) : picker, error);
    };
    this.#connections = new experimental.ChildLoadBalancerHandler(
      experimental.createChildChannelControlHelper(helper, { updateState }),
    );
  }

  updateAddressList(...update: Parameters<LoadBalancer["updateAddressList"]>): boolean {
    const [endpoints, , options, note] = update;
    this.#latest = update;
    const replicas: unknown = options[replicasOption];
    if (replicas instanceof Replicas) this.#replicas = replicas;
    this.#follow(options[certificateOption]);
    return this.#connections.updateAddressList(
      endpoints,
      experimental.parseLoadBalancingConfig({ round_robin: {} }),
      { ...options, [generationOption]: this.#generation },
      note,
    );
  }

  #follow(certificate: CertificateSource | undefined): void {
    if (this.#certificate === certificate) return;
    this.#certificate = certificate;
    certificate?.onChange(this.#renew);
  }

  exitIdle(): void {
    this.#connections.exitIdle();
  }

  resetBackoff(): void {
    this.#connections.resetBackoff();
  }

  destroy(): void {
    this.#certificate?.removeListener(this.#renew);
    this.#replicas.set([]);
    this.#connections.destroy();
  }

  getTypeName(): string {
    return balancerName;
  }

  /** Asks round_robin often enough to get each connected server once. */
  #serversOf(roundRobin: experimental.Picker): Server[] {
    const servers = new Map<experimental.SubchannelInterface, Server>();
    for (;;) {
      const pick = roundRobin.pick({ metadata: new Metadata(), extraPickInfo: {} });
      if (!pick.subchannel || servers.has(pick.subchannel)) return [...servers.values()];
      servers.set(pick.subchannel, { pick, replica: this.#replicaOf(pick.subchannel) });
    }
  }

  #replicaOf(subchannel: experimental.SubchannelInterface): Replica {
    const known = this.#known.get(subchannel) ?? new Replica();
    this.#known.set(subchannel, known);
    return known;
  }
}

/** Servers take turns; silent ones are skipped while there are others. */
class ReplicaPicker implements experimental.Picker {
  readonly #servers: readonly Server[];
  #turn = 0;

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  pick({ metadata }: experimental.PickArgs): PickResult {
    const { pick, replica } = this.#choose(performance.now());
    if (metadata.get(promptKey).length === 0) return pick;
    metadata.remove(promptKey);
    return {
      ...pick,
      onCallStarted: () => replica.noteCall(performance.now()),
      onCallEnded: (code) => replica.noteEnd(code, performance.now()),
    };
  }

  #choose(nowMs: number): Server {
    let best = this.#next();
    for (let others = this.#servers.length - 1; others > 0; others -= 1) {
      const quietMs = best.replica.quietMs(nowMs);
      if (quietMs < silentMs) break;
      const other = this.#next();
      if (other.replica.quietMs(nowMs) < quietMs) best = other;
    }
    return best;
  }

  #next(): Server {
    const server = this.#servers[this.#turn % this.#servers.length];
    this.#turn += 1;
    if (!server) throw new RangeError("a picker has at least one server");
    return server;
  }
}
