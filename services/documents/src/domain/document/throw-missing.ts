import { DomainError } from "@vidimus/kit/errors";

export function throwMissing(field: string): never {
  throw new DomainError("invalid", `${field} is missing`, { reason: "missing" });
}
