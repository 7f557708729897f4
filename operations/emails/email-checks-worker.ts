import { serveThread } from '../../actors/work/worker-threads.ts';
import { checkMail } from '../../core/html/check-mail.ts';

// The program of the thread of email-checks.ts: checks the HTML of mail.
serveThread(checkMail);
