import type { ChannelCredentials } from "@grpc/grpc-js";
import { serviceCredentials } from "./service-credentials.ts";
import { parsePem, readPemFiles, type TlsFileNames, type TlsFiles } from "./tls-files.ts";

/**
 * Makes credentials for calls to a service from files that are read once. Only for tools, which end
 * before a certificate expires.
 *
 * @param names by which messages call the three files; TLS_CERT_FILE and so on by default
 * @throws ConfigError naming the first file that cannot be read, else every fault of the contents
 */
export function fileCredentials(files: TlsFiles, service: string, names?: TlsFileNames): ChannelCredentials {
  const value = { ...parsePem(readPemFiles(files), names), identityPath: files.identityPath };
  return serviceCredentials({ value, onChange: () => {}, removeListener: () => {} }, service);
}
