import { type ClientSession, type MongoClient, MongoServerError, Timestamp } from "mongodb";
import { type Moment, MomentAhead } from "../domain/published-reads/tenant-clock.ts";

/**
 * Reads in a session that sees all that had been committed at a moment. Without one a majority read
 * may go back in time over a failover: the next primary serves what it knows a majority to hold, and
 * may not have heard yet of the last commits its predecessor showed. The server waits for them; the
 * session costs no message.
 *
 * @throws MomentAhead when the moment has not come yet by the server's clock
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

/** The moment a session, or the answer to a command, has come to. */
export function momentOf({ operationTime }: Pick<ClientSession, "operationTime">): Moment | undefined {
  return operationTime?.toBigInt();
}
