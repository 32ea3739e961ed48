export interface EndpointName {
  readonly tenantId: string;
  readonly endpointId: string;
}
