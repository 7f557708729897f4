import { createHash, randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import type { TestGateway } from '../servers/gateway.ts';

const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

interface Operation {
  op: string;
  path?: string;
  value?: unknown;
}

/** The directory of a workspace, with its token. */
export interface ScimStage {
  token: string;
  call: (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>;
  /** creates a user or group, and returns its ID */
  create: (kind: 'Users' | 'Groups', body: Record<string, unknown>) => Promise<string>;
  patch: (path: string, ...operations: Operation[]) => Promise<LightMyRequestResponse>;
}

/** Stores a SCIM token for a workspace, and returns its directory. */
export async function openScimStage(
  { app, owner }: Pick<TestGateway, 'app' | 'owner'>,
  workspaceId: string,
): Promise<ScimStage> {
  const token = `scim_${randomBytes(32).toString('base64url')}`;
  await owner.pool.query(
    `insert into scim_token (workspace_id, id, name, secret_sha256, hint, created_at, created_by) values ($1, $2, 'Directory', $3, 'hint', now(), $1)
     on conflict (workspace_id) do update set secret_sha256 = excluded.secret_sha256`,
    [workspaceId, `sct_${randomBytes(16).toString('hex')}`, createHash('sha256').update(token).digest()],
  );
  const call: ScimStage['call'] = (method, path, body, headers = {}) =>
    app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    token,
    call,
    async create(kind, body) {
      const schemas = [kind === 'Users' ? USER_SCHEMA : GROUP_SCHEMA];
      const response = await call('POST', `/${kind}`, { schemas, ...body });
      if (response.statusCode !== 201) throw new Error(response.body);
      return (response.json() as { id: string }).id;
    },
    patch: (path, ...operations) => call('PATCH', path, { schemas: [PATCH_SCHEMA], Operations: operations }),
  };
}
