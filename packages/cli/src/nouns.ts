import type { Command } from "commander";
import type { World } from "./world.ts";

export type CommandMaker = (world: World) => Command;

type CommandLoader = () => Promise<CommandMaker>;

export interface Noun {
  readonly name: string;
  readonly description: string;
  readonly commands: Readonly<Record<string, CommandLoader>>;
}

/**
 * The commands by their noun: `vidimus NOUN COMMAND`. A new command must be named here. A file is
 * loaded only when needed, because loading all of them takes half a second of CPU.
 */
export const nouns: readonly Noun[] = [
  {
    name: "profile",
    description: "deployments that you work with, by name",
    commands: {
      add: async () => (await import("./commands/profile/add.ts")).addProfile,
      list: async () => (await import("./commands/profile/list.ts")).listProfiles,
      use: async () => (await import("./commands/profile/use.ts")).chooseProfileCommand,
    },
  },
  {
    name: "tenants",
    description: "newsrooms",
    commands: {
      create: async () => (await import("./commands/tenants/create.ts")).createTenant,
      list: async () => (await import("./commands/tenants/list.ts")).listTenants,
      disable: async () => (await import("./commands/tenants/disable.ts")).disableTenant,
      enable: async () => (await import("./commands/tenants/enable.ts")).enableTenant,
    },
  },
  {
    name: "keys",
    description: "API keys of a tenant",
    commands: {
      create: async () => (await import("./commands/keys/create.ts")).createKey,
      list: async () => (await import("./commands/keys/list.ts")).listKeys,
      show: async () => (await import("./commands/keys/show.ts")).showKey,
      grant: async () => (await import("./commands/keys/grant.ts")).grantScopes,
      roll: async () => (await import("./commands/keys/roll.ts")).rollKey,
      revoke: async () => (await import("./commands/keys/revoke.ts")).revokeKey,
    },
  },
  {
    name: "members",
    description: "people of a tenant, and invitations",
    commands: {
      list: async () => (await import("./commands/members/list.ts")).listMembers,
      show: async () => (await import("./commands/members/show.ts")).showMember,
      invite: async () => (await import("./commands/members/invite.ts")).inviteMember,
      invitations: async () => (await import("./commands/members/invitations.ts")).listInvitations,
      "revoke-invitation": async () => (await import("./commands/members/revoke-invitation.ts")).revokeInvitation,
      "set-roles": async () => (await import("./commands/members/set-roles.ts")).setRoles,
      remove: async () => (await import("./commands/members/remove.ts")).removeMember,
    },
  },
  {
    name: "console",
    description: "the pages of people",
    commands: {
      "sign-in": async () => (await import("./commands/console/sign-in.ts")).signIn,
    },
  },
  {
    name: "documents",
    description: "documents and their transitions",
    commands: {
      create: async () => (await import("./commands/documents/create.ts")).createDocument,
      import: async () => (await import("./commands/documents/import.ts")).importDocuments,
      list: async () => (await import("./commands/documents/list.ts")).listDocuments,
      show: async () => (await import("./commands/documents/show.ts")).showDocument,
      update: async () => (await import("./commands/documents/update.ts")).updateDocument,
      transition: async () => (await import("./commands/documents/transition.ts")).transitionDocument,
      transitions: async () => (await import("./commands/documents/transitions.ts")).listTransitions,
      publish: async () => (await import("./commands/documents/publish.ts")).publishDocuments,
      withhold: async () => (await import("./commands/documents/withhold.ts")).withholdDocuments,
      kill: async () => (await import("./commands/documents/kill.ts")).killDocuments,
      history: async () => (await import("./commands/documents/history.ts")).showHistory,
    },
  },
  {
    name: "phrases",
    description: "the dictionary of a tenant",
    commands: {
      list: async () => (await import("./commands/phrases/list.ts")).listPhrases,
      show: async () => (await import("./commands/phrases/show.ts")).showPhrase,
      put: async () => (await import("./commands/phrases/put.ts")).putPhrase,
      delete: async () => (await import("./commands/phrases/delete.ts")).deletePhrase,
      import: async () => (await import("./commands/phrases/import.ts")).importPhrases,
      export: async () => (await import("./commands/phrases/export.ts")).exportPhrases,
    },
  },
  {
    name: "signing-keys",
    description: "the keys that sign snapshots",
    commands: {
      list: async () => (await import("./commands/signing-keys/list.ts")).listSigningKeys,
      prepare: async () => (await import("./commands/signing-keys/prepare.ts")).prepareSigningKey,
      activate: async () => (await import("./commands/signing-keys/activate.ts")).activateSigningKey,
      retire: async () => (await import("./commands/signing-keys/retire.ts")).retireSigningKey,
      revoke: async () => (await import("./commands/signing-keys/revoke.ts")).revokeSigningKey,
      audit: async () => (await import("./commands/signing-keys/audit.ts")).auditSignatures,
      rewrap: async () => (await import("./commands/signing-keys/rewrap.ts")).rewrapSigningKeys,
    },
  },
  {
    name: "trust-root",
    description: "the offline root of the trust list",
    commands: {
      create: async () => (await import("./commands/trust-root/create.ts")).createTrustRoot,
      delegate: async () => (await import("./commands/trust-root/delegate.ts")).delegateTrust,
      install: async () => (await import("./commands/trust-root/install.ts")).installDelegation,
      show: async () => (await import("./commands/trust-root/show.ts")).showTrustRoot,
    },
  },
  {
    name: "endpoints",
    description: "receivers of signed webhooks",
    commands: {
      create: async () => (await import("./commands/endpoints/create.ts")).createEndpoint,
      list: async () => (await import("./commands/endpoints/list.ts")).listEndpoints,
      show: async () => (await import("./commands/endpoints/show.ts")).showEndpoint,
      update: async () => (await import("./commands/endpoints/update.ts")).updateEndpoint,
      rotate: async () => (await import("./commands/endpoints/rotate.ts")).rotateEndpoint,
      enable: async () => (await import("./commands/endpoints/enable.ts")).enableEndpoint,
      disable: async () => (await import("./commands/endpoints/disable.ts")).disableEndpoint,
      test: async () => (await import("./commands/endpoints/test.ts")).testEndpoint,
      delete: async () => (await import("./commands/endpoints/delete.ts")).deleteEndpoint,
    },
  },
  {
    name: "deliveries",
    description: "what became of webhooks",
    commands: {
      list: async () => (await import("./commands/deliveries/list.ts")).listDeliveries,
      count: async () => (await import("./commands/deliveries/count.ts")).countDeliveries,
      show: async () => (await import("./commands/deliveries/show.ts")).showDelivery,
      tail: async () => (await import("./commands/deliveries/tail.ts")).tailDeliveries,
      redeliver: async () => (await import("./commands/deliveries/redeliver.ts")).redeliverDelivery,
      replay: async () => (await import("./commands/deliveries/replay.ts")).replayDeliveries,
      replays: async () => (await import("./commands/deliveries/replays.ts")).listReplays,
    },
  },
  {
    name: "audit",
    description: "who changed what",
    commands: {
      list: async () => (await import("./commands/audit/list.ts")).listAudit,
    },
  },
  {
    name: "grants",
    description: "who may call the teams doors",
    commands: {
      check: async () => (await import("./commands/grants/check.ts")).checkGrants,
    },
  },
];

/** Commands without a noun. */
export const soloCommands: readonly { name: string; description: string; load: CommandLoader }[] = [
  {
    name: "listen",
    description: "receive webhooks on this machine, verify them and print them, until interrupted",
    load: async () => (await import("./commands/listen.ts")).listen,
  },
  {
    name: "doctor",
    description: "check a deployment, and suggest remedies",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    name: "completion",
    description: "print a script that lets a shell complete command lines",
    load: async () => (await import("./commands/completion.ts")).printCompletion,
  },
];
