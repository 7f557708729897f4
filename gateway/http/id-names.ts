import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import { snakeCase } from '../../core/shared/word-case.ts';

/**
 * Lets a request name every ID in snake_case or camelCase: `domain_id` and `domainId` are the same field of a body, and the same query
 * parameter. Domains, addresses and endpoints have the one form, emails and threads the other. Call it before the routes are registered.
 */
export function acceptBothIdNames(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { schema, config } = route;
    const body = config?.bodyFields ?? schema?.body;
    const query = schema?.querystring;
    route.preValidation = [
      async (request) => {
        if (body instanceof z.ZodType) renameIds(body, request.body);
        if (query instanceof z.ZodType) renameIds(query, request.query);
      },
      ...[route.preValidation ?? []].flat(),
    ];
  });
}

/** Gives the IDs of a value the names that its shape has. Throws validation when a request has both names of one. */
function renameIds(shape: z.core.$ZodType, value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'object' && !Array.isArray(value)) {
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(def.shape)) {
      const other = otherName(name);
      if (other === null || Object.hasOwn(def.shape, other) || !Object.hasOwn(fields, other)) continue;
      if (Object.hasOwn(fields, name)) throw namedTwice(name, other);
      fields[name] = fields[other];
      delete fields[other];
    }
    for (const [name, inner] of Object.entries(def.shape))
      if (Object.hasOwn(fields, name)) renameIds(inner, fields[name], depth + 1);
    return;
  }
  if (def.type === 'array' && Array.isArray(value)) for (const item of value) renameIds(def.element, item, depth + 1);
  else if (def.type === 'pipe') renameIds(def.in._zod.def.type === 'transform' ? def.out : def.in, value, depth);
  else if (def.type === 'union') for (const option of def.options) renameIds(option, value, depth);
  else if ('innerType' in def) renameIds(def.innerType, value, depth);
}

/** Deeper values have no IDs. */
const MAX_DEPTH = 4;

/** Returns `domain_id` for `domainId` and the other way round; null for a name that is no ID. */
function otherName(name: string): string | null {
  if (/[a-z]Ids?$/.test(name)) return snakeCase(name);
  if (/[a-z]_ids?$/.test(name)) return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return null;
}

function namedTwice(name: string, other: string): UserError {
  const message = `\`${name}\` and \`${other}\` are the same field. Give one of them.`;
  return new UserError('validation', message, { title: 'Bad Request', details: [{ field: other, message }] });
}
