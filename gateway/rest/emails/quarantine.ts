import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readQuarantined } from '../../../operations/screening/read-quarantined.ts';
import { access } from '../../admission/access.ts';
import { sendDownloadError } from '../../http/error-response.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';
import { makeDownload, sendFile } from './attachments.ts';

export const quarantineRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/quarantine',
    {
      config: { access: access.export, isDownload: true },
      errorHandler: sendDownloadError,
      schema: {
        operationId: 'downloadQuarantined',
        summary: 'Download a message in quarantine',
        description:
          'Returns the message of an email that has a virus, for owners. Without `confirm`, the response is an error that names the virus. The file is not opened by any program by itself: its type is `application/octet-stream`.',
        tags: ['Emails'],
        params: idInPath,
        querystring: z.object({
          confirm: z
            .string()
            .optional()
            .meta({ description: 'Name of the virus, as `security.virus` of the email shows it.' }),
        }),
        response: { 200: makeDownload('application/octet-stream'), default: errorBody },
      },
    },
    async (request, reply) => {
      const file = await readQuarantined(contextOf(request), request.params.id, request.query.confirm ?? null);
      return sendFile(reply, file);
    },
  );
};
