import { toBinary, type DescFile, type DescService } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import { type ServerReflection, type ServerReflectionRequest } from "@vidimus/contracts/grpc/reflection/v1/reflection";

/**
 * Implements `grpc.reflection.v1` for the given services, so that `grpcurl` needs no `.proto`
 * files.
 */
export function reflectionService(services: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const files = collectFiles(services);
  return {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield {
          validHost: request.host,
          originalRequest: request,
          messageResponse: answer(request.messageRequest, services, files),
        };
      }
    },
  };
}

function collectFiles(services: readonly DescService[]): ReadonlyMap<string, DescFile> {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile) => {
    const name = file.proto.name;
    if (files.has(name)) return;
    files.set(name, file);
    for (const dependency of file.dependencies) add(dependency);
  };
  for (const service of services) add(service.file);
  return files;
}

type Query = ServerReflectionRequest["messageRequest"];

function answer(query: Query, services: readonly DescService[], files: ReadonlyMap<string, DescFile>) {
  switch (query.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: { service: services.map(({ typeName }) => ({ name: typeName })) },
      } as const;
    case "fileByFilename":
      return descriptors(files.get(query.value), query.value, files);
    case "fileContainingSymbol":
      return descriptors(findSymbol(query.value, files), query.value, files);
    case "fileContainingExtension":
    case "allExtensionNumbersOfType":
    case undefined:
      return failure(Code.Unimplemented, "these services declare no extensions");
  }
}

/** Answers with the file and all its imports, so that a client needs a single round trip. */
function descriptors(file: DescFile | undefined, asked: string, files: ReadonlyMap<string, DescFile>) {
  if (!file) return failure(Code.NotFound, `unknown symbol or file "${asked}"`);
  const needed = new Set<DescFile>();
  const add = (next: DescFile) => {
    if (needed.has(next)) return;
    needed.add(next);
    for (const dependency of next.dependencies) add(files.get(dependency.proto.name) ?? dependency);
  };
  add(file);
  const fileDescriptorProto = [...needed].map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } } as const;
}

function findSymbol(symbol: string, files: ReadonlyMap<string, DescFile>): DescFile | undefined {
  return [...files.values()].find(
    (file) =>
      file.messages.some(({ typeName }) => symbol === typeName || symbol.startsWith(`${typeName}.`)) ||
      file.enums.some(({ typeName }) => symbol === typeName) ||
      file.services.some(({ typeName }) => symbol === typeName || symbol.startsWith(`${typeName}.`)),
  );
}

function failure(code: Code, errorMessage: string) {
  return { case: "errorResponse", value: { errorCode: code, errorMessage } } as const;
}
