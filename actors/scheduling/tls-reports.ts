import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type pg from 'pg';
import { SYSTEM_WORKSPACE_ID } from '../../core/accounts/system-account.ts';
import { makeTlsReportName } from '../../core/domains/mta-sts.ts';
import { readableFields, readHeaderSection } from '../../core/mime/header-fields.ts';
import { emailParties } from '../../core/search/email-parties.ts';
import {
  makeTlsReport,
  type ReportTarget,
  readReportTargets,
  type TlsReportSubject,
} from '../../core/sending/tls-report.ts';
import { composeTlsReportMail, tlsReportTitle } from '../../core/sending/tls-report-mail.ts';
import { type IdentifierKind, newIdentifier } from '../../core/shared/identifiers.ts';
import { createAddressGuard } from '../../core/shared/network-address.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { keepSystemDomain } from '../../db/queries/domains/domain-owner.ts';
import { writeOutgoing } from '../../db/queries/sending/outgoing-write.ts';
import {
  type ClaimedTlsReport,
  claimTlsReports,
  noteTlsReportSent,
  readTlsSessions,
  releaseTlsReport,
} from '../../db/queries/sending/tls-report.ts';
import type { ActorContext } from '../actor.ts';
import { openDispatcherLater, requestChecked } from '../network/checked-request.ts';
import { createDnsResolver } from '../network/dns-resolver.ts';

export interface TlsReportOptions {
  /** CIDRs that report receivers may have although they are not public */
  allowedPrivateNetworks: readonly string[];
  /** ports of this service: never reached on a private address */
  refusedPorts: readonly number[];
  /** PEM certificates of authorities that report receivers may use besides the default ones */
  trustedCertificates: readonly string[] | null;
  /** SYSTEM_MAIL_FROM: sends reports by email, and is their contact */
  systemMailFrom: string;
}

const DNS_TIME_MS = 10_000;
const POST_TIME_MS = 30_000;
/** Bytes of a response that are read. */
const MAX_RESPONSE_BYTES = 16_384;

const compress = promisify(gzip);

/** Sends the TLS reports (RFC 8460) that are due, and returns how many it claimed. */
export function createTlsReporter(
  context: ActorContext,
  options: TlsReportOptions & { dnsServers: readonly string[]; mailHostname: string },
): () => Promise<number> {
  const { database, log, name } = context;
  const { allowedPrivateNetworks, refusedPorts, trustedCertificates, dnsServers, mailHostname, systemMailFrom } =
    options;
  const guard = createAddressGuard({ allowedPrivateNetworks, ownPorts: refusedPorts });
  const openDispatcher = openDispatcherLater({ guard, dnsServers, trustedCertificates });
  const senderDomain = systemMailFrom.slice(systemMailFrom.lastIndexOf('@') + 1).toLowerCase();

  /** Returns where the domain wants its reports; null when DNS does not tell. */
  const findTargets = async (domain: string): Promise<ReportTarget[] | null> => {
    try {
      const dns = createDnsResolver({ servers: dnsServers });
      const records = await dns.within(DNS_TIME_MS)(makeTlsReportName(domain), 'TXT');
      return readReportTargets(records.map((strings) => [strings].flat().join('')));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null;
      return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null;
    }
  };

  const post = async (claimed: ClaimedTlsReport, uri: string, content: Buffer): Promise<boolean> => {
    const response = await requestChecked(openDispatcher, {
      url: uri,
      method: 'POST',
      headers: { 'content-type': 'application/tlsrpt+gzip' },
      body: content,
      timeoutMs: POST_TIME_MS,
      maxBytes: MAX_RESPONSE_BYTES,
    });
    const isTaken = response.kind === 'responded' && response.statusCode >= 200 && response.statusCode < 300;
    if (isTaken) await noteTlsReportSent(database.pool, name, claimed, uri);
    return isTaken;
  };

  const identifier = (kind: IdentifierKind) => newIdentifier(context, kind);

  /** Queues the report as an email in the transaction that notes it, so that it is sent once. */
  const mail = async (
    claimed: ClaimedTlsReport,
    { uri, address }: ReportTarget & { kind: 'mailto' },
    report: TlsReportSubject,
    content: Buffer,
  ): Promise<boolean> => {
    const domainId = await keepSystemDomain(database, { id: identifier('domain'), name: senderDomain });
    const messageId = `<${identifier('email')}@${senderDomain}>`;
    const date = context.now();
    const bytes = await composeTlsReportMail({ report, content, to: address, messageId, date });
    const row = {
      id: identifier('email'),
      raw_id: identifier('raw'),
      event_id: identifier('event'),
      own_address: systemMailFrom.toLowerCase(),
      own_domain: senderDomain,
      message_id: messageId,
      subject: tlsReportTitle(report, messageId),
      base_subject: tlsReportTitle(report, messageId),
      from_name: 'Postroom',
      from_address: systemMailFrom,
      from_text: `Postroom <${systemMailFrom}>`,
      to_addresses: [address],
      cc_addresses: [],
      preview: '',
      date: date.toISOString(),
      scheduled_at: null,
      timezone: null,
      headers: readableFields(readHeaderSection(bytes)),
      addresses: NO_ADDRESSES,
      in_reply_to: [],
      reference_ids: [],
      attachments: [],
      attachment_count: 0,
      tags: [],
      metadata: null,
      search_text: '',
      parties: emailParties([address]),
      sha256: hash('sha256', bytes, 'hex'),
      recipients: [
        {
          id: identifier('recipient'),
          address,
          domain: address.slice(address.lastIndexOf('@') + 1).toLowerCase(),
          list: null,
        },
      ],
    };
    const email = { row, bytes, text: null, html: null, domainId, addressId: null };
    const isQueued = await inTransaction(database, async (client: pg.PoolClient) => {
      if (!(await noteTlsReportSent(client, name, claimed, uri))) return false;
      await writeOutgoing(client, SYSTEM_WORKSPACE_ID, [
        { emails: [email], batchId: null, traceParent: null, response: null },
      ]);
      return true;
    });
    if (isQueued) context.bus.wake('sending.send.wake', { workspaceId: SYSTEM_WORKSPACE_ID, emailIds: [row.id] });
    return isQueued;
  };

  /** Returns whether nothing is left to do. */
  const send = async (claimed: ClaimedTlsReport): Promise<boolean> => {
    const { domain, day, reportId } = claimed;
    const targets = await findTargets(domain);
    if (targets === null) return false;
    const open = targets.filter(({ uri }) => !claimed.sentTo.includes(uri));
    if (open.length === 0) return true;
    const counts = await readTlsSessions(database, claimed);
    const report = { domain, day, reportId, submitter: mailHostname, contact: systemMailFrom, counts };
    const content = await compress(makeTlsReport(report));
    const sent = await Promise.all(
      open.map(async (target) => {
        const isSent =
          target.kind === 'https'
            ? await post(claimed, target.uri, content)
            : await mail(claimed, target, report, content);
        log.info({ domain, day, reportId, target: target.uri, isSent }, 'scheduling: a TLS report');
        return isSent;
      }),
    );
    return sent.every(Boolean);
  };

  return async () => {
    const claimed = await claimTlsReports(database, name);
    await Promise.all(
      claimed.map(async (report) => {
        const isDone = await send(report).catch((error: unknown) => {
          log.error({ err: error, domain: report.domain }, 'scheduling: a TLS report could not be sent');
          return false;
        });
        await releaseTlsReport(database, name, report, isDone);
      }),
    );
    return claimed.length;
  };
}

const NO_ADDRESSES = { from: null, to: null, cc: null, bcc: null, replyTo: null };
