import { messageOf } from "../cli-error.ts";
import { checkClock } from "./check-clock.ts";
import { checkMongodbVersion } from "./check-mongodb-version.ts";
import { broken, type Finding, unchecked } from "./finding.ts";

const check = "mongodb";

/** Connects like a service, and sends only `buildInfo` and `hello`, which need no rights. */
export async function checkMongodb(url: string | undefined): Promise<Finding[]> {
  if (!url) return [unchecked(check, "Pass VIDIMUS_MONGODB (in the environment: it may hold a password).")];
  try {
    // Imported here, because loading the driver takes time, and no other check needs it.
    const { openMongo } = await import("@vidimus/kit/mongo/mongo");
    await using mongo = await openMongo({ url, database: "admin", appName: "vidimus-doctor", poolSizeMax: 1 });
    const { version } = await mongo.db.command({ buildInfo: 1 });
    const startedAtMs = Date.now();
    const { setName, msg, localTime } = await mongo.db.command({ hello: 1 });
    const askedAtMs = (startedAtMs + Date.now()) / 2;
    const skewMs = localTime instanceof Date ? localTime.getTime() - askedAtMs : 0;
    return [checkMongodbVersion(String(version), nameOf(setName, msg)), checkClock("mongodb", skewMs)];
  } catch (error) {
    const remedy =
      "Is it running, is the URL the services' own, and may this machine reach every member of the replica set?";
    return [broken(check, withoutPasswords(messageOf(error)), remedy)];
  }
}

/** Undefined for a single mongod, which does not support transactions. */
function nameOf(setName: unknown, message: unknown): string | undefined {
  if (message === "isdbgrid") return "sharded cluster";
  return typeof setName === "string" ? `replica set ${setName}` : undefined;
}

/** Hides passwords, because the driver quotes URLs that it cannot parse. */
function withoutPasswords(message: string): string {
  return message.replaceAll(/\/\/[^/@\s]*@/g, "//…@");
}
