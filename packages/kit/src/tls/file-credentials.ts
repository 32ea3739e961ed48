import type { ChannelCredentials } from "@grpc/grpc-js";
import { serviceCredentials } from "./service-credentials.ts";
import { parsePem, readPemFiles, type TlsFileNames, type TlsFiles } from "./tls-files.ts";

/**
 * Makes credentials for calls to a service from files that are read once. Only for tools, which end
 * before a certificate expires.
 *
 * @param names by which messages about contents call the three files; by default TLS_CERT_FILE and so
 * on
 * @throws ConfigError with the path of the first file that cannot be read, is too long, or is a key
 * that others may read; else with every fault of the contents
 */
export function fileCredentials(files: TlsFiles, service: string, names?: TlsFileNames): ChannelCredentials {
  const value = { ...parsePem(readPemFiles(files), names), identityPath: files.identityPath };
  return serviceCredentials({ value, onChange: () => {}, removeListener: () => {} }, service);
}
