/** The services that keep an audit log of a tenant. */
export const auditedServices = ["access", "delivery", "documents"] as const;

export type AuditedService = (typeof auditedServices)[number];

/** A kind of change in the filter of the audit page. */
interface AuditKind {
  readonly label: string;
  readonly service: AuditedService;
  /** From the `action` of an audit entry to what was done, in words. */
  readonly actions: Readonly<Record<string, string>>;
}

/** The kinds of changes by their names in the URL of the audit page. */
export const auditKinds: Readonly<Record<string, AuditKind>> = {
  keys: {
    label: "API keys",
    service: "access",
    actions: {
      create_key: "made a key",
      update_key_scopes: "changed the scopes of a key",
      roll_key: "rolled a key",
      revoke_key: "revoked a key",
    },
  },
  members: {
    label: "members and invitations",
    service: "access",
    actions: {
      invite_member: "invited somebody",
      revoke_invitation: "revoked an invitation",
      accept_invitation: "accepted an invitation",
      update_member_roles: "changed a member's roles",
      remove_member: "removed a member",
      create_sign_in_link: "made a sign-in link",
      redeem_sign_in_link: "signed in by a link",
    },
  },
  tenant: {
    label: "the newsroom itself",
    service: "access",
    actions: {
      create_tenant: "made the newsroom",
      disable_tenant: "disabled the newsroom",
      enable_tenant: "enabled the newsroom",
    },
  },
  endpoints: {
    label: "endpoints",
    service: "delivery",
    actions: {
      create_endpoint: "made an endpoint",
      update_endpoint: "changed an endpoint",
      enable_endpoint: "started an endpoint",
      disable_endpoint: "paused an endpoint",
      rotate_endpoint_secret: "rotated the secret of an endpoint",
      delete_endpoint: "deleted an endpoint",
    },
  },
  deliveries: {
    label: "deliveries and replays",
    service: "delivery",
    actions: {
      redeliver: "sent a delivery again",
      start_replay: "started a replay",
      cancel_replay: "cancelled a replay",
    },
  },
  workflows: {
    label: "schemas and workflows",
    service: "documents",
    actions: {
      create_schema_generation: "added a schema",
      create_workflow_version: "added a workflow",
      activate_workflow: "activated a workflow",
    },
  },
};

const words = new Map(Object.values(auditKinds).flatMap(({ actions }) => Object.entries(actions)));

/**
 * An action in words. For an action of a newer service that is not listed above, its name with
 * blanks for underscores.
 */
export function actionInWords(action: string): string {
  return words.get(action) ?? action.replaceAll("_", " ");
}
