import { listStater, type StatedAnswer } from "../../packages/verify/test/support/list-stater.ts";
import { trustVector } from "../../packages/verify/src/trust-vector.ts";
import { backdated, type DeliveryCase, keys, newKeyListed } from "./delivery-cases.ts";

const hourS = 3_600;
const stater = listStater();
const forger = listStater();
const list = { active: null, keys };

/** The genuine delivery with a current trust list, and with lists that must be refused. */
export function trustListCases(genuine: DeliveryCase, now: number): DeliveryCase[] {
  const issuedAt = now * 1000;
  const stated = stater.state(list, { issuedAt, revision: 5 });
  const rooted = { root: stater.root };
  const pinned = { listKey: stater.listKey };
  const accepted = (title: string, list: DeliveryCase["list"] & {}, change: Partial<DeliveryCase>): DeliveryCase => ({
    ...genuine,
    title: `list: ${title}`,
    list,
    ...change,
  });
  const refused = (
    title: string,
    list: DeliveryCase["list"] & {},
    refusedBy: RegExp,
    pins: DeliveryCase["pins"] = rooted,
  ) => accepted(title, list, { refusedBy, pins });
  const forged = forger.state({ ...list, keys: [...keys, newKeyListed()] }, { issuedAt, revision: 6 });
  const planted = { ...stated, body: JSON.stringify({ ...list, keys: [...keys, backdated()] }) };
  const ended = stater.delegate(issuedAt - 1000);
  const replayed = (hours: number) => stater.state(list, { issuedAt: issuedAt - hours * hourS * 1000, revision: 5 });
  const vectorAt = trustVector.issuedAt.getTime() / 1000;
  const lower = stater.state(list, { issuedAt, revision: 4 });
  return [
    accepted("genuine, under the root", stated, { pins: { ...rooted, revision: 5 } }),
    accepted("genuine, under the list key", stated, { pins: pinned }),
    accepted("genuine, when nothing is pinned yet", stated, { pins: {} }),
    accepted("the vector", trustVector, { pins: { root: trustVector.root, revision: 5 }, keysAt: vectorAt }),
    refused("a backdated key", planted, /list: digest/),
    refused("forged, by another root and list key", forged, /list: chain/),
    refused("forged, under a pinned list key", forged, /list: chain/, pinned),
    refused("of another list key with the root's delegation", borrowed(issuedAt), /list: chain/),
    refused("without a delegation", stater.state(list, { issuedAt, delegation: null }), /list: chain/),
    refused("a delegation that has ended", stater.state(list, { issuedAt, delegation: ended }), /list: delegation/),
    refused("replayed after 26 hours", replayed(26), /list: age/),
    refused("stated in the future", replayed(-1), /list: age/),
    refused("a lower revision", lower, /list: revision/, { ...rooted, revision: 5 }),
    refused("a lower revision, under a pinned list key", lower, /list: revision/, { ...pinned, revision: 5 }),
    refused("not stated", { body: stated.body, headers: {} }, /list: statement/, {}),
    refused("the statement of another list", restated(stated, issuedAt), /list: (signature|digest)/, {}),
  ];
}

/** A list that another list key signed, with the delegation of the genuine list key. */
function borrowed(issuedAt: number): StatedAnswer {
  return forger.state(list, { issuedAt, delegation: stater.delegate(issuedAt + hourS * 1000) });
}

/** Another list and its statement, with the signature of the genuine statement. */
function restated({ headers }: StatedAnswer, issuedAt: number): StatedAnswer {
  const other = stater.state({ active: null, keys: [] }, { issuedAt, revision: 7 });
  return {
    body: other.body,
    headers: { ...other.headers, "vidimus-trust-signature": headers["vidimus-trust-signature"] },
  };
}
