import { contactCapability, contactQuery, senderQuery } from '../../../operations/emails/contact-capability.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { wireQuery } from '../capability-shapes.ts';

export const contactRoutes = capabilityRoutes(contactCapability, {
  operations: {
    listContacts: { request: wireQuery(contactQuery, 'snake') },
    listSenders: { request: wireQuery(senderQuery, 'snake') },
  },
});
