export interface EndpointKey {
  readonly tenantId: string;
  readonly endpointId: string;
}
