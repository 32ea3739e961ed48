import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Invitation, Member } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { type ActorNames, actorName, actorNames } from "../parts/actor.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { caption, pager, type PagePosition, positionOf } from "../parts/pager.ts";
import { state } from "../parts/state.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { timeAgo } from "../parts/times.ts";
import { roleList } from "../roles.ts";
import { lastOwnerOf } from "./last-owner.ts";

export interface ListMembersDeps {
  readonly members: Pick<MemberCalls, "listMembers" | "listInvitations">;
}

interface People extends PagePosition {
  readonly members: readonly Member[];
  readonly nextPageToken: string;
  readonly invitations: readonly Invitation[];
  readonly names: ActorNames;
}

const pageRows = 50;

/** `GET /t/{tenant}/members`: members and open invitations. */
export function listMembers({ members }: ListMembersDeps): TenantRoute {
  return tenantPage({
    path: "/members",
    right: "members",
    load: async (call): Promise<People> => {
      const position = positionOf(call.query);
      const { tenantId } = call.tenant;
      const [page, { invitations }, names] = await Promise.all([
        members.listMembers({ tenantId, limit: pageRows, pageToken: position.pageToken }, call.rpc),
        members.listInvitations({ tenantId }, call.rpc),
        actorNames(members, call, call.rpc),
      ]);
      return { ...position, members: page.members, nextPageToken: page.nextPageToken, invitations, names };
    },
    view: (data, call) => ({ title: "Members", main: membersPage(data, call) }),
  });
}

const done = {
  removed: "The member is removed. Its sessions here end with its next click.",
  roles: "The roles are changed. They count from the member's next click.",
  invited: "The link is not shown again. The invitation is in the list below until it is accepted.",
  revoked: "The invitation is revoked: its link leads nowhere.",
};

const lead = "People who may sign in to this newsroom, and what each of them may do.";

function membersPage(data: People, call: TenantCall): Html {
  const { members, invitations } = data;
  const page = { ...data, count: members.length };
  return html`${doneNotice(call.query, done)}
    ${pageHead({ title: "Members", lead, aside: linkButton("Invite", call.at("/members/invite"), "primary") })}
    ${
      members.length === 0
        ? emptyState("There are no members yet.", "The operator of the platform invites the first owner.")
        : dataTable({
            caption: caption(page, "member", "members", "by name"),
            columns: memberColumns(data, call),
            rows: members,
          })
    }
    ${pager(call.url, page)}
    <h2>Open invitations</h2>
    ${
      invitations.length === 0
        ? emptyState("Nobody is invited.", html`<a href="${call.at("/members/invite")}">Invite a colleague</a>.`)
        : dataTable({
            caption: `${invitations.length === 1 ? "1 invitation" : `${invitations.length} invitations`}, newest first`,
            columns: invitationColumns(data, call),
            rows: invitations,
          })
    }`;
}

function memberColumns(people: People, { at, now, role, person }: TenantCall): Column<Member>[] {
  const { names, from } = people;
  const lastOwner = from === 1 ? lastOwnerOf(people) : undefined;
  const changes: Column<Member> = {
    label: "Change",
    isQuiet: true,
    cell: ({ memberId, name }) =>
      html`<span class="links"
        ><a href="${at(`/members/${memberId}/roles`)}" aria-label="Change the roles of ${name}">Roles</a>${
          memberId !== lastOwner &&
          html` · <a href="${at(`/members/${memberId}/remove`)}" aria-label="Remove ${name}">Remove</a>`
        }</span
      >`,
  };
  return [
    {
      label: "Name",
      cell: ({ memberId, name, address }) =>
        html`<b dir="auto">${name}</b>${memberId === person.memberId && html` ${state("ok", "you")}`}
          ${address !== "" && html`<br /><span class="q" dir="auto">${address}</span>`}`,
    },
    {
      label: "Roles",
      cell: ({ memberId, roles }) =>
        html`${roleList(roles)}${memberId === lastOwner && html` <small>the last owner</small>`}`,
    },
    { label: "Since", cell: ({ createdAt }) => createdAt && timeAgo(timestampDate(createdAt), now) },
    { label: "Invited by", cell: ({ invitedBy }) => actorName(names, invitedBy) },
    ...(role === "owner" ? [changes] : []),
  ];
}

function invitationColumns({ names }: People, { at, now }: TenantCall): Column<Invitation>[] {
  return [
    {
      label: "For",
      cell: ({ note }) => html`<span dir="auto">${note === "" ? "somebody not named" : note}</span>`,
    },
    { label: "Roles", cell: ({ roles }) => roleList(roles) },
    { label: "Invited", cell: ({ createdAt }) => createdAt && timeAgo(timestampDate(createdAt), now) },
    { label: "By", cell: ({ invitedBy }) => actorName(names, invitedBy) },
    { label: "Ends", cell: ({ expiresAt }) => expiresAt && timeAgo(timestampDate(expiresAt), now) },
    {
      label: "Change",
      isQuiet: true,
      cell: ({ invitationId, note }) =>
        html`<a
          href="${at(`/members/invitations/${invitationId}/revoke`)}"
          aria-label="Revoke the invitation for ${note}"
          >Revoke</a
        >`,
    },
  ];
}
