import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

declare module 'fastify' {
  interface FastifyRequest {
    /** fields of the body that the route does not know; null before it is read */
    bodyWarnings: BodyWarning[] | null;
  }
  interface FastifyContextConfig {
    /** the fields of the body, where the schema of the route leaves some open */
    bodyFields?: z.ZodType;
  }
}

interface BodyWarning {
  /** path with dots, as `attachments.0.name` */
  field: string;
  message: string;
}

/** Further ones are not reported. */
const MAX_WARNINGS = 50;
/** Of a field's path in a warning; characters. */
const MAX_PATH_LENGTH = 200;

/**
 * Reports fields of a JSON body that a route does not know, which are ignored, as `warnings` of the answer, whatever its status. To be
 * called before the routes are registered.
 */
export function warnOfUnknownFields(app: FastifyInstance): void {
  app.decorateRequest('bodyWarnings', null);
  app.addHook('onRoute', (route) => {
    const fields = route.config?.bodyFields ?? route.schema?.body;
    if (!(fields instanceof z.ZodType)) return;
    // Behind the hooks of the route itself, which may bring the body into shape.
    route.preValidation = [
      ...[route.preValidation ?? []].flat(),
      async (request) => {
        const paths = unknownFields(fields, request.body).slice(0, MAX_WARNINGS);
        request.bodyWarnings = paths.map((path) => ({
          field: path.slice(0, MAX_PATH_LENGTH).toWellFormed(),
          message: 'Unknown field. It was ignored.',
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

/** Returns the paths of fields in a value that a shape does not know. Where several shapes may fit, the one that knows most of it counts. */
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

/** Whether a shape takes lists, where the value is one, or objects. */
function mayHold(shape: z.core.$ZodType, value: object): boolean {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'array') return Array.isArray(value);
  if (def.type === 'object' || def.type === 'record') return !Array.isArray(value);
  return 'innerType' in def ? mayHold(def.innerType, value) : true;
}
