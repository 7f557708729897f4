import { defineEntity, p } from '@mikro-orm/core';
import type { ApiInterface } from '../../core/accounts/logged-request.ts';
import type { Right } from '../../core/accounts/rights.ts';

/** A request that came with an API key; removed after 7 days (remove_leftovers). Bodies and headers are stored without secrets. */
export const ApiRequestSchema = defineEntity({
  name: 'ApiRequest',
  tableName: 'api_request',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    createdAt: p.datetime(3),
    keyId: p.text(),
    interface: p.text().$type<ApiInterface>(),
    method: p.text(),
    /** with the query, without secrets in it */
    path: p.text(),
    /** name of the GraphQL operation or the MCP tool; null: unknown, or REST */
    operation: p.text().nullable(),
    status: p.smallint(),
    durationMs: p.integer(),
    clientAddress: p.text(),
    requestHeaders: p.json<Record<string, string>>(),
    responseHeaders: p.json<Record<string, string>>(),
    /** null: no body */
    requestBytes: p.bigint('number').nullable(),
    /** null: none, or not kept */
    requestBody: p.text().nullable(),
    responseBytes: p.bigint('number').nullable(),
    responseBody: p.text().nullable(),
    /** whether bodies were left out because the gateway was busy */
    omitsBodies: p.boolean().default(false),
    /** the confidential rights that it needed, see core/accounts/rights.ts: bodies are shown to those who have them */
    rights: p.array().$type<Right[]>().default([]),
  },
  indexes: [
    { name: 'api_request_age', properties: ['createdAt'] },
    {
      name: 'api_request_list',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  checks: [
    {
      name: 'api_request_interface_check',
      expression: `(interface = ANY (ARRAY['rest'::text, 'graphql'::text, 'mcp'::text]))`,
    },
  ],
});
