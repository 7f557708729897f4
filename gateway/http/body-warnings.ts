import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** unknown fields of the body and query parameters, and what the operation warns of; null before the body is parsed */
    bodyWarnings: BodyWarning[] | null;
  }
  interface FastifyContextConfig {
    /** the fields of the body, if the schema of the route is open */
    bodyFields?: z.ZodType;
  }
}

interface BodyWarning {
  /** path with dots, such as `attachments.0.name` */
  field: string;
  message: string;
}

/** Maximum number of warnings. */
const MAX_WARNINGS = 50;
/** Maximum length of a path in a warning; characters. */
const MAX_PATH_LENGTH = 200;

/** Makes every request that has it strict: `?strict=true`. */
const STRICT = 'strict';
const NO_PARAMETERS = z.object({});

/**
 * Lists unknown fields of a JSON body and unknown query parameters, which are ignored, as `warnings` in the response, whatever its status.
 * With the query parameter `strict=true` they are 400 instead. Shapes that refuse unknown fields do so themselves, and a filter or limit that is
 * put into the query must not be ignored there either: such routes refuse unknown parameters. Call it before the routes are registered.
 */
export function warnOfUnknownFields(app: FastifyInstance): void {
  app.decorateRequest('bodyWarnings', null);
  app.addHook('onRoute', (route) => {
    const bodyShape = route.config?.bodyFields ?? route.schema?.body;
    const queryShape = route.schema?.querystring ?? NO_PARAMETERS;
    const isClosed = bodyShape instanceof z.ZodType && refusesUnknown(bodyShape);
    // After the hooks of the route, which may normalize the body.
    route.preValidation = [
      ...[route.preValidation ?? []].flat(),
      async (request) => {
        const query = request.query as Record<string, unknown>;
        const fields = bodyShape instanceof z.ZodType ? unknownFields(bodyShape, request.body) : [];
        const parameters = queryShape instanceof z.ZodType ? unknownFields(queryShape, query) : [];
        const warnings = [
          ...fields.map((path) => warningAbout(path, 'Unknown field')),
          ...parameters.filter((name) => name !== STRICT).map((name) => warningAbout(name, 'Unknown query parameter')),
        ].slice(0, MAX_WARNINGS);
        if (warnings.length > 0 && (isClosed || query[STRICT] === 'true')) throw refusal(warnings);
        request.bodyWarnings = warnings.map(({ field, message }) => ({
          field,
          message: `${message}. It was ignored.`,
        }));
      },
    ];
  });
  app.addHook('onSend', async ({ bodyWarnings }, _reply, payload) => {
    const isObject = typeof payload === 'string' && payload.startsWith('{') && payload.endsWith('}');
    if (!isObject || bodyWarnings === null || bodyWarnings.length === 0) return payload;
    const separator = payload === '{}' ? '' : ',';
    return `${payload.slice(0, -1)}${separator}"warnings":${JSON.stringify(bodyWarnings)}}`;
  });
}

/** Adds a warning to the response of a request, in `warnings`. */
export function addWarning(request: FastifyRequest, field: string, message: string): void {
  request.bodyWarnings = [...(request.bodyWarnings ?? []), { field, message }];
}

function warningAbout(path: string, message: string): BodyWarning {
  return { field: path.slice(0, MAX_PATH_LENGTH).toWellFormed(), message };
}

function refusal(unknown: BodyWarning[]): UserError {
  const names = unknown.map(({ field }) => field).join(', ');
  return new UserError('validation', `Not known here: ${names}`, { details: unknown });
}

/** Returns the paths of unknown fields in a value. If several shapes are possible, the one with the fewest unknown fields counts. */
function unknownFields(shape: z.core.$ZodType, value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'object') {
    if (Array.isArray(value) || def.catchall !== undefined) return [];
    return Object.entries(value).flatMap(([name, inner]) => {
      const known = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
      return known === undefined ? [path + name] : unknownFields(known, inner, `${path}${name}.`);
    });
  }
  if (def.type === 'array')
    return Array.isArray(value)
      ? value.flatMap((item, index) => unknownFields(def.element, item, `${path}${index}.`))
      : [];
  if (def.type === 'pipe') return unknownFields(def.in._zod.def.type === 'transform' ? def.out : def.in, value, path);
  if (def.type === 'union') {
    const fitting = def.options.filter((option) => mayHold(option, value));
    const [first = [], ...others] = fitting.map((option) => unknownFields(option, value, path));
    return others.reduce((least, each) => (each.length < least.length ? each : least), first);
  }
  return 'innerType' in def ? unknownFields(def.innerType, value, path) : [];
}

/** Returns whether a shape refuses unknown fields, whichever of several shapes a value has. */
function refusesUnknown(shape: z.core.$ZodType): boolean {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return def.catchall?._zod.def.type === 'never';
  if (def.type === 'union') return def.options.every(refusesUnknown);
  if (def.type === 'pipe') return refusesUnknown(def.in._zod.def.type === 'transform' ? def.out : def.in);
  return 'innerType' in def && refusesUnknown(def.innerType);
}

/** Returns whether a shape is of the value's kind: list or object. */
function mayHold(shape: z.core.$ZodType, value: object): boolean {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'array') return Array.isArray(value);
  if (def.type === 'object' || def.type === 'record') return !Array.isArray(value);
  return 'innerType' in def ? mayHold(def.innerType, value) : true;
}
