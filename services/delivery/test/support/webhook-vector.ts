import { vector as published } from "../../../../packages/verify/src/webhook-vector.ts";

/** The test vector of `@vidimus/verify`, with the endpoint's secret as bytes. */
export const vector = { ...published, secret: Buffer.alloc(32, 2) };
