/**
 * HTTP/2 window of an export, in bytes: how far the service may send ahead of the client. With the
 * 4 MiB of other calls, an export whose client had stopped reading held 6 MiB in the gateway.
 */
export const exportWindowBytes = 512 * 1024;
