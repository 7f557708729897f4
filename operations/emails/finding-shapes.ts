import { z } from 'zod';
import { AUTHENTICATION_RESULTS } from '../../core/mime/authentication.ts';
import { ATTENDEE_STATUSES, EVENT_STATUSES } from '../../core/mime/calendar-event.ts';
import { SENDER_VERDICTS } from '../../core/mime/sender-verdict.ts';
import { INJECTION_KINDS, INJECTION_VERDICTS, SCREENED_PARTS } from '../../core/screening/screened-mail.ts';
import { SPAM_SOURCES, SPAM_VERDICTS } from '../../core/screening/spam-check.ts';
import { graphqlText, inRest, named, nameType } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { SECURITY_WARNINGS } from './security-warnings.ts';

/** Shapes of what is found in an email: who vouches for its sender, what may deceive its reader, codes, links and events. */

export const authenticationResult = oneOf(AUTHENTICATION_RESULTS, {
  name: 'AuthenticationResult',
  description: 'Result of an authentication check (RFC 8601 §2.7).',
  values: {
    pass: 'The check passed.',
    fail: 'The check failed.',
    softfail: 'The check probably failed; the domain owner makes no strong statement (SPF).',
    neutral: 'The domain owner makes no statement, or the signature cannot be evaluated.',
    none: 'There was nothing to check.',
    policy: 'The check passed but is not accepted, for example because of a weak key.',
    temperror: 'DNS did not respond in time.',
    permerror: 'The published record is invalid.',
  },
});

export const senderVerdict = z
  .object({
    verdict: oneOf(SENDER_VERDICTS, {
      name: 'SenderVerdictKind',
      description: 'Who vouches for the sender of an email.',
      values: {
        verified: 'The domain in the From header, by DKIM or SPF.',
        forwarded: 'A forwarding server, by ARC. The domain in the From header does not confirm the message.',
        other_domain: 'Another domain, by DKIM or SPF.',
        unverified: 'No domain.',
        failed: 'No domain, and DMARC of the domain in the From header fails; or there are several From headers.',
        unchecked: 'Unknown, because DNS did not respond.',
      },
    }).meta({ description: 'Who vouches.' }),
    domain: z.string().nullable().meta({ description: 'The domain that vouches. Null if there is none.' }),
    text: z.string().meta({ description: 'The verdict in one or two sentences.' }),
  })
  .meta({ id: 'SenderVerdict', description: 'Who vouches for the sender of an email, in words.' });

const result = authenticationResult.meta({ description: 'Result of the check.' });

/** What GraphQL returns of the stored results. */
export const authentication = nameType(
  z.object({
    spf: nameType(
      z.object({
        result,
        domain: z.string().nullable().meta({
          description:
            'The domain that was checked: the domain of the envelope sender, else the HELO name. Null if there was none.',
        }),
      }),
      {
        type: 'SpfVerdict',
        description: 'SPF result: whether the sending server may send for the envelope sender’s domain (RFC 7208).',
      },
    ).meta({ description: 'SPF result of the sending server.' }),
    dkim: z
      .array(
        nameType(
          z.object({
            result,
            domain: z.string().nullable().meta({
              description: 'The signing domain. Null if the signature names none.',
            }),
            selector: z.string().nullable().meta({
              description: 'The selector of the key. Null if the signature names none.',
            }),
          }),
          { type: 'DkimVerdict', description: 'DKIM result of one signature (RFC 6376).' },
        ),
      )
      .meta({ description: 'DKIM results, one per signature, up to 50.' }),
    dmarc: nameType(
      z.object({
        result,
        domain: z.string().nullable().meta({
          description: 'The domain in the From header. Null unless there is exactly one.',
        }),
        policy: oneOf(['none', 'quarantine', 'reject'], {
          name: 'SenderPolicy',
          description: 'What a domain owner asks receivers to do with mail that fails DMARC.',
          values: {
            none: 'No action.',
            quarantine: 'Treat the mail as suspicious.',
            reject: 'Reject the mail.',
          },
        })
          .nullable()
          .meta({ description: 'Published DMARC policy. Null if there is none.' }),
      }),
      {
        type: 'DmarcVerdict',
        description: 'DMARC result: whether SPF or DKIM confirms the domain in the From header (RFC 9989).',
      },
    ).meta({ description: 'DMARC result for the From domain.' }),
    arc: nameType(
      z.object({
        result,
        domain: z.string().nullable().meta({
          description: 'The domain that sealed the message last. Null unless the chain passes.',
        }),
      }),
      {
        type: 'ArcVerdict',
        description: 'ARC result: whether the authentication results of earlier servers can be trusted (RFC 8617).',
      },
    ).meta({ description: 'ARC result for the servers on the way.' }),
    sender: senderVerdict.meta({ description: 'Who vouches for the sender, from all results together.' }),
    hasSeveralFromFields: z.boolean().meta({
      description:
        'Whether there is more than one From header. Legitimate mail never has two, and clients differ in which one they show.',
    }),
  }),
  {
    type: 'Authentication',
    description:
      'Postroom’s own checks of where a received email came from. Results claimed in the email itself are never used.',
  },
);

const finding = nameType(
  z.object({
    kind: oneOf(INJECTION_KINDS, {
      name: 'InjectionKind',
      description: 'How a mail may steer an agent that reads it.',
      values: {
        hidden_text: 'Text that a person does not see says something to a machine.',
        different_parts: 'The plain text says something else than the HTML.',
        instruction: 'Text gives instructions to a machine.',
        pressure: 'Text asks for a secret or for money and leaves no time to think.',
        encoded_text: 'Encoded text decodes to instructions.',
        link_data: 'A link carries what the mail says, or has a place for what an agent knows.',
        not_screened: 'A body is longer than what is screened.',
      },
    }).meta({ description: 'How the mail may steer an agent.' }),
    part: oneOf(SCREENED_PARTS, {
      name: 'ScreenedPart',
      description: 'Part of an email that is screened.',
      values: {
        subject: 'The subject.',
        sender: 'A display name: of the sender, of a recipient, or for replies.',
        text: 'The plain-text body.',
        html: 'The HTML body.',
        attachment: 'The name of an attachment, or what a text file says.',
      },
    }).meta({ description: 'Where it was found.' }),
    excerpt: z.string().meta({ description: 'What was found, up to 200 characters. Untrusted: the sender wrote it.' }),
    why: z.string().meta({ description: 'The reason in one sentence.' }),
  }),
  { type: 'InjectionFinding', description: 'Text in an email that is aimed at an agent.' },
).meta({ id: 'InjectionFinding' });

export const injectionVerdict = oneOf(INJECTION_VERDICTS, {
  name: 'InjectionVerdict',
  description: 'Whether a person should look at an email before an agent acts on it.',
  values: {
    clear: 'Nothing was found.',
    review: 'A person should look at the email first.',
  },
});

const injection = nameType(
  z.object({
    verdict: injectionVerdict.meta({
      description: '`review`: a person should look at the email before an agent acts on it.',
    }),
    findings: z.array(finding).meta({
      description: 'What was found, up to 10. Empty if the verdict is `clear`, and in an email with a virus.',
    }),
  }),
  { type: 'Injection', description: 'Text in a received email that is aimed at an agent which reads it.' },
).meta({ id: 'Injection' });

export const spamVerdict = oneOf(SPAM_VERDICTS, {
  name: 'SpamVerdict',
  description: 'Whether an email is spam.',
  values: {
    clean: 'It is not spam.',
    suspected: 'It may be spam.',
    spam: 'It is spam and is kept in the folder Spam.',
    not_checked: 'No spam filter has checked it.',
  },
});

const spamSymbol = nameType(
  z.object({
    name: z.string().meta({ description: 'Name of the rule.' }),
    score: z.number().meta({ description: 'What the rule adds to the score.' }),
    description: z.string().meta({ description: 'The rule in words. Empty if the filter has none.' }),
  }),
  { type: 'SpamSymbol', description: 'A rule of the spam filter that matched an email.' },
).meta({ id: 'SpamSymbol' });

const spamCheck = nameType(
  z.object({
    verdict: spamVerdict.meta({ description: 'Whether the email is spam.' }),
    score: z.number().nullable().meta({ description: 'Score of the spam filter. Null if it did not check the email.' }),
    required: z
      .number()
      .nullable()
      .meta({ description: 'Score from which the spam filter advises to refuse an email.' }),
    symbols: z.array(spamSymbol).meta({ description: 'Rules that matched, up to 25, most important first.' }),
    by: oneOf(SPAM_SOURCES, {
      name: 'SpamSource',
      description: 'Who decided whether an email is spam.',
      values: { filter: 'The spam filter.', user: 'A user who marked the email.' },
    }).meta({ description: 'Who decided: the spam filter, or a person or program that marked the email.' }),
  }),
  { type: 'SpamCheck', description: 'What the spam filter says about a received email.' },
).meta({ id: 'SpamCheck' });

/** What the screening of an email says. */
export const emailSecurity = nameType(
  z.object({
    injection: injection.nullable().meta({
      description: 'Text that is aimed at an agent. Null if the email was not screened, as sent mail.',
    }),
    spam: spamCheck.meta({ description: 'What the spam filter says.' }),
    virus: z.string().nullable().meta({
      description: 'Name of the virus for which the email is in quarantine. Null if it is not.',
    }),
  }),
  { type: 'EmailSecurity', description: 'What the screening of an email says.' },
).meta({ id: 'EmailSecurity' });

export const securityWarning = z
  .object({
    kind: oneOf(SECURITY_WARNINGS, {
      name: 'SecurityWarningKind',
      description: 'How an email may deceive its reader.',
      values: {
        link_text: 'The text of a link names another host than its target.',
        lookalike_host: 'The host of a link imitates another name with letters of other alphabets.',
        address_in_name: 'The display name of the sender contains another address.',
        imitated_name: 'The display name of the sender is the name of a person known by another address.',
        lookalike_domain: 'The domain of the sender looks like one of a known person, or like one of the user.',
      },
    }).meta({ description: 'How the email may deceive.' }),
    text: z.string().meta({ description: 'The warning in one or two sentences.' }),
    shown: z.string().meta({ description: 'What the reader sees: a host, an address, a name or a domain.' }),
    actual: z.string().meta({
      description:
        'What it really is: the host of the link in ASCII, or the address of the sender or its domain in ASCII.',
    }),
  })
  .meta({ id: 'SecurityWarning', description: 'What in a received email may deceive its reader.' });

const party = {
  name: z.string().nullable().meta({ description: 'Display name. Null if there is none.' }),
  address: z.string().meta({ description: 'Email address, as the sender wrote it.' }),
};
const moment = z.string().nullable();

export const calendarEvent = z
  .object({
    method: z.string().nullable().meta({
      description:
        'What the message does: `REQUEST` invites or updates, `CANCEL` cancels, `REPLY` accepts or declines, `COUNTER` proposes another time. Null if the calendar has no method.',
    }),
    uid: named(z.string().nullable(), { graphqlType: 'String' }).meta({
      description: 'ID of the event, the same in all messages about it.',
    }),
    sequence: z.int().meta({ description: 'Increases with each change of the event.' }),
    status: oneOf(EVENT_STATUSES, {
      name: 'EventStatus',
      description: 'Status of an event.',
      values: {
        confirmed: 'The event takes place.',
        tentative: 'The event may take place.',
        cancelled: 'The event was cancelled.',
      },
    })
      .nullable()
      .meta({ description: 'Null if not stated.' }),
    summary: z.string().meta({ description: 'Title. Empty if there is none.' }),
    location: z.string().nullable().meta({ description: 'Null if there is none.' }),
    start: moment.meta({
      description:
        'Start in UTC, such as `2026-12-01T09:00:00.000Z`. All-day events have a date; events without a time zone have a local time without `Z`.',
    }),
    end: moment.meta({ description: 'Exclusive end, in the same form as `start`. Null if the event has no end.' }),
    timeZone: z.string().nullable().meta({
      description: 'IANA time zone of `start`, such as `Europe/Berlin`. Null if there is none or it is unknown.',
    }),
    isAllDay: z.boolean().meta({ description: 'Whether the event lasts whole days.' }),
    organizer: nameType(z.object(party), { type: 'EventParty', description: 'The organizer of an event.' })
      .nullable()
      .meta({ description: 'Null if there is none.' }),
    attendees: z
      .array(
        nameType(
          z.object({
            ...party,
            status: oneOf(ATTENDEE_STATUSES, {
              name: 'AttendeeStatus',
              description: 'Response of an attendee.',
              values: {
                'needs-action': 'The attendee has not responded.',
                accepted: 'The attendee accepted.',
                declined: 'The attendee declined.',
                tentative: 'The attendee may come.',
                delegated: 'The attendee sends another person.',
              },
            }).meta({ description: 'Response of the attendee.' }),
          }),
          { type: 'EventAttendee', description: 'An attendee of an event.' },
        ),
      )
      .meta({ description: 'Attendees, up to 100.' }),
    recurrence: z.string().nullable().meta({
      description:
        'Recurrence rule (RFC 5545 §3.3.10), such as `FREQ=WEEKLY;BYDAY=MO`. Null if the event happens once.',
    }),
    recurrenceId: named(moment, { graphqlType: 'String' }).meta({
      description: 'Start of the occurrence that the message is about. Null for all occurrences.',
    }),
  })
  .meta({
    id: 'CalendarEvent',
    description: 'The event of an invitation, of a reply to one, or of a cancellation, as its sender wrote it.',
  });

const foundIn = z.array(
  oneOf(['subject', 'text', 'html', 'header'], {
    name: 'ExtractSource',
    description: 'Part of an email.',
    values: {
      subject: 'The subject.',
      text: 'The plain-text body.',
      html: 'The HTML body.',
      header: 'The headers.',
    },
  }),
);

/** Codes, links and the event of an email. */
export const extracts = nameType(
  graphqlText(
    z.object({
      codes: graphqlText(
        z.array(
          nameType(
            graphqlText(
              z.object({
                code: graphqlText(z.string(), 'The code, without spaces between its digits.'),
                foundIn: inRest(
                  graphqlText(foundIn, 'Where the code was found.'),
                  z.array(z.enum(['subject', 'text', 'html'])),
                ),
                likelihood: z.number().meta({ description: 'Confidence, from 0 to 1.' }),
              }),
              'A likely verification code.',
            ),
            { type: 'ExtractedCode' },
          ),
        ),
        'Codes, most likely first, up to 10.',
      ).meta({ description: 'Likely verification codes, most likely first.' }),
      links: graphqlText(
        z.array(
          nameType(
            graphqlText(
              z.object({
                url: named(z.string(), { graphqlType: 'URL' }).meta({ description: 'http, https or mailto URL.' }),
                text: graphqlText(z.string().nullable(), 'Link text. Null if the text is the URL itself.').meta({
                  description: 'Text of the link.',
                }),
                foundIn: inRest(
                  graphqlText(foundIn, 'Where the link was found.'),
                  z.array(z.enum(['text', 'html', 'header'])),
                ),
                isUnsubscribe: graphqlText(z.boolean(), 'Whether the link unsubscribes from a mailing list.'),
              }),
              'A link in an email.',
            ),
            { type: 'ExtractedLink' },
          ),
        ),
        'Links, most relevant first and unsubscribe links last, up to 100.',
      ).meta({ description: 'Links, most relevant first and unsubscribe links last.' }),
      event: graphqlText(calendarEvent.nullable(), 'The event of the first calendar. Null if the email has none.').meta(
        { description: 'The event of its first calendar. Null if it has none.' },
      ),
    }),
    'Codes, links and the event found in an email.',
  ),
  { type: 'Extracts' },
);
