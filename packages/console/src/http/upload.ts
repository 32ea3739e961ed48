import { DomainError } from "@vidimus/kit/errors";
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";

export interface UploadLimits {
  /** Largest file, in bytes; 0 for a form without files. */
  readonly fileBytesMax: number;
  /** Largest text of each field, in bytes; not of all together. */
  readonly textBytesMax: number;
}

interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A form that was read into memory, with its files. */
export interface Upload {
  readonly form: URLSearchParams;
  /** From a field's name to its file; without the fields in which no file was chosen. */
  readonly files: ReadonlyMap<string, UploadedFile>;
}

/** Most fields of a form beside its file. Pages have three at most, with at most 2 MiB each. */
const fieldsMax = 4;
const mebibyte = 1024 * 1024;

/**
 * Reads a form into memory. A url-encoded form has no files; it was read before, within the limit
 * of its route.
 *
 * @throws DomainError for a multipart body: `too_large` for a file or a text beyond the limits,
 * `invalid` when the parser refuses the body, such as one with too many fields, and when the
 * browser had left before the call
 */
export async function readUpload(request: FastifyRequest, limits: UploadLimits): Promise<Upload> {
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  const files = new Map<string, UploadedFile>();
  if (!request.isMultipart()) return { form, files };
  // The parser would wait for ever for the end of a request that is closed already.
  if (request.raw.destroyed) throw new DomainError("invalid", "the form did not arrive whole");
  try {
    for await (const part of request.parts({ limits: partLimits(limits) })) {
      if (part.type === "file") await takeFile(files, part);
      else if (part.valueTruncated) throw tooLong(limits);
      else form.append(part.fieldname, String(part.value));
    }
  } catch (error) {
    throw refusalOf(error, limits) ?? error;
  }
  return { form, files };
}

function partLimits({ fileBytesMax, textBytesMax }: UploadLimits) {
  return {
    fileSize: fileBytesMax,
    fieldSize: textBytesMax,
    files: fileBytesMax > 0 ? 1 : 0,
    fields: fieldsMax,
    parts: fieldsMax + 1,
  };
}

async function takeFile(files: Map<string, UploadedFile>, part: MultipartFile): Promise<void> {
  const bytes = await part.toBuffer();
  // For a field without a file, browsers send an empty file without a name.
  if (part.filename || bytes.length > 0) files.set(part.fieldname, { name: part.filename, bytes });
}

/** The refusal for a form that the parser does not take; undefined for any other error. */
function refusalOf(error: unknown, limits: UploadLimits): DomainError | undefined {
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "FST_REQ_FILE_TOO_LARGE") {
    return new DomainError("too_large", `the file has more than ${limits.fileBytesMax / mebibyte} MiB`);
  }
  const isRefusal = error instanceof Error && "statusCode" in error && Number(error.statusCode) < 500;
  return isRefusal ? new DomainError("invalid", "the form is not one of this page") : undefined;
}

function tooLong({ textBytesMax }: UploadLimits): DomainError {
  return new DomainError("too_large", `a text has more than ${textBytesMax / 1024} KiB`);
}
