import { type ClientSession, type MongoClient, MongoServerError, Timestamp } from "mongodb";
import { type Moment, MomentAhead } from "../domain/published-reads/tenant-clock.ts";

/**
 * Reads in a session that sees everything that was committed up to a moment. Without the moment a
 * majority read may go back in time after a failover: the new primary may not know yet that a
 * majority has the last commits that its predecessor showed. With the moment the new primary waits
 * until it knows. The session costs no extra message to mongod.
 *
 * @throws MomentAhead when the moment is ahead of the server's clock
 */
export async function readAtMoment<T>(
  client: MongoClient,
  moment: Moment | undefined,
  read: (session: ClientSession) => Promise<T>,
): Promise<T> {
  await using session = client.startSession({ causalConsistency: true });
  if (moment !== undefined) session.advanceOperationTime(new Timestamp(moment));
  try {
    return await read(session);
  } catch (error) {
    throw isAhead(error) ? new MomentAhead() : error;
  }
}

function isAhead(error: unknown): boolean {
  return (
    error instanceof MongoServerError &&
    error.code === 72 &&
    error.message.includes("greater than the current clusterTime")
  );
}

/**
 * The operation time of a session (undefined before the session's first answer) or of a command's
 * answer.
 */
export function momentOf({ operationTime }: Pick<ClientSession, "operationTime">): Moment | undefined {
  return operationTime?.toBigInt();
}
