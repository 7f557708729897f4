import { capabilities } from '../../operations/capability/capabilities.ts';
import { capabilityTools } from './capability-tools.ts';
import type { Tool } from './tool.ts';
import { whoAmI } from './tools/account.ts';
import { approveEmailTool, rejectEmailTool } from './tools/approvals.ts';
import { readAttachmentTool } from './tools/attachments.ts';
import { claimThreadTool, releaseThreadTool } from './tools/claims.ts';
import {
  createDraftTool,
  deleteDraftTool,
  listDraftsTool,
  readDraftTool,
  sendDraftTool,
  updateDraftTool,
} from './tools/drafts.ts';
import { awaitEmail, readEmail, searchEmails } from './tools/emails.ts';
import { listThreadNotesTool } from './tools/notes.ts';
import { reviewEmailTool } from './tools/review.ts';
import {
  cancelEmailTool,
  forwardEmailTool,
  replyToEmail,
  rescheduleEmailTool,
  sendEmailTool,
} from './tools/sending.ts';
import { archiveThreads, labelThreads, markThreadsRead, trashThreadsTool } from './tools/thread-changes.ts';
import { listThreadLabels, readThread, searchThreads } from './tools/threads.ts';

/** All tools, in the order of lists. */
export const tools: readonly Tool[] = [
  whoAmI,
  searchThreads,
  readThread,
  searchEmails,
  readEmail,
  readAttachmentTool,
  awaitEmail,
  listThreadLabels,
  sendEmailTool,
  replyToEmail,
  forwardEmailTool,
  rescheduleEmailTool,
  cancelEmailTool,
  createDraftTool,
  listDraftsTool,
  readDraftTool,
  updateDraftTool,
  deleteDraftTool,
  sendDraftTool,
  reviewEmailTool,
  approveEmailTool,
  rejectEmailTool,
  labelThreads,
  archiveThreads,
  markThreadsRead,
  trashThreadsTool,
  claimThreadTool,
  releaseThreadTool,
  listThreadNotesTool,
  ...capabilityTools(capabilities),
];
