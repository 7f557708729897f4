import type { Readable } from 'node:stream';
import type { FastifyReply, FastifySerializerCompiler } from 'fastify';
import { ResponseSerializationError, serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { streamJson } from './json-stream.ts';

/** The serializer of a route's response, which can also return the value that it would serialize. */
interface Serializer {
  (data: unknown): string;
  encode?: (data: unknown) => unknown;
}

/** Serializes a response by its zod schema. */
export const responseSerializer: FastifySerializerCompiler<z.ZodType> = (route) => {
  const { schema, method, url } = route as typeof route & { schema: unknown };
  const serialize = serializerCompiler(route as never) as Serializer;
  if (!(schema instanceof z.ZodType)) return serialize;
  return Object.assign((data: unknown) => serialize(data), {
    encode(data: unknown): unknown {
      const { success, data: encoded, error } = z.safeEncode(schema, data as never);
      if (success) return encoded;
      throw new ResponseSerializationError(method, url, { cause: error });
    },
  });
};

/** Returns the JSON of a response as a stream, by the schema that its route declares. */
export function streamResponse(reply: FastifyReply, data: unknown): Readable {
  const serialize = reply.getSerializationFunction(String(reply.statusCode)) as Serializer | undefined;
  return streamJson(serialize?.encode === undefined ? data : serialize.encode(data), reply.request.workspaceId);
}
