import { Code, DataList, Group, List, Modal, Progress, Stack } from '@mantine/core';
import { useState } from 'react';
import { useClient } from 'urql';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { Fact, LoadedSection } from '../../parts/section.tsx';
import { Hint, Small, Strong } from '../../parts/text.tsx';
import { describeError, useAct } from '../../parts/use-act.ts';
import { counted, countedAtLeast, formatCount } from '../../parts/words.ts';
import { baseUrl } from '../../shell/viewer.ts';

const LIMITS = graphql(`
  query DashboardLimits { viewer { limits { requestsPerSecond sendsPerHour sendsLeft sentWithinHour } } }
`);

/** Share of a limit from which it is nearly reached. */
const NEARLY = 0.9;

/** Limits of the account and their current usage. */
export function LimitsSection() {
  const query = useLiveQuery({ query: LIMITS, kinds: ['EMAIL_SENT'] });
  return (
    <LoadedSection title="Limits" about="Set by the operator for each account." query={query} height={70}>
      {({ viewer: { limits } }) => (
        <Stack>
          <SentLately used={limits.sentWithinHour} most={limits.sendsPerHour} />
          <Group justify="space-between" gap="xs">
            <Small>Requests per second, for all keys and this dashboard</Small>
            <Strong>
              {limits.requestsPerSecond === null ? 'no limit' : `at most ${formatCount(limits.requestsPerSecond)}`}
            </Strong>
          </Group>
        </Stack>
      )}
    </LoadedSection>
  );
}

function SentLately({ used, most }: { used: number; most: number | null }) {
  const part = most === null ? 0 : used / most;
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Small>Emails sent in the last hour</Small>
        <Strong aria-live="polite">
          {formatCount(used)} {most === null ? '· no limit' : `of ${formatCount(most)}`}
        </Strong>
      </Group>
      {most !== null && (
        <Progress
          value={Math.min(part, 1) * 100}
          color={part >= 1 ? 'red' : part >= NEARLY ? 'orange' : 'post.6'}
          aria-label="Emails sent in the last hour"
        />
      )}
      {part >= 1 && <Small>New emails wait until the limit allows them.</Small>}
    </Stack>
  );
}

const RETENTION = graphql(`
  query DashboardRetention { viewer { retention { rawDays bodyDays metadataDays isDefault } } }
`);
type ShownRetention = ResultOf<typeof RETENTION>['viewer']['retention'];

const UPDATE_RETENTION = mutation('updateRetention', 'retention { rawDays bodyDays metadataDays isDefault }');
const PREVIEW = graphql(`
  query PreviewRetention($rawDays: Int, $bodyDays: Int, $metadataDays: Int) {
    viewer {
      retentionPreview(rawDays: $rawDays, bodyDays: $bodyDays, metadataDays: $metadataDays) {
        emails bodies rawMessages
      }
    }
  }
`);
/** What the values that wait for confirmation would erase. */
type Erased = ResultOf<typeof PREVIEW>['viewer']['retentionPreview'];

/** Retention periods. */
export function RetentionSection() {
  const query = useLiveQuery({ query: RETENTION });
  const isDefault = query.data?.viewer.retention.isDefault === true;
  return (
    <LoadedSection
      title="Retention"
      about={`Older mail is permanently removed within hours. ${
        isDefault ? 'These are the service defaults; your values override them.' : ''
      }`}
      query={query}
    >
      {({ viewer: { retention } }) => <RetentionForm retention={retention} done={query.refresh} />}
    </LoadedSection>
  );
}

const FIELDS = [
  ['rawDays', 'Raw messages and attachments (days)', 'At most as long as bodies.'],
  ['bodyDays', 'Bodies (days)', 'Texts and their search index. At most as long as all other data.'],
  ['metadataDays', 'All other data (days)', 'Subjects, people, deliveries and all other data of an email.'],
] as const;

/** An empty field means that nothing is removed. */
type Days = number | '';
type DaysByField = Record<(typeof FIELDS)[number][0], Days>;

function RetentionForm({ retention, done }: { retention: ShownRetention; done: () => void }) {
  const { act } = useAct(UPDATE_RETENTION, { quiet: true, done: 'The retention settings were saved.' });
  const client = useClient();
  const [erased, setErased] = useState<Erased | null>(null);
  const values: DaysByField = {
    rawDays: retention.rawDays ?? '',
    bodyDays: retention.bodyDays ?? '',
    metadataDays: retention.metadataDays ?? '',
  };
  const form = useRecordForm({
    values,
    submit: async (given) => {
      if (!FIELDS.some(([name]) => isShorter(given[name], retention[name]))) return save(given, null);
      const { data, error } = await client
        .query(PREVIEW, writeDays(given), { requestPolicy: 'network-only' })
        .toPromise();
      setErased(data?.viewer.retentionPreview ?? null);
      return { problem: error === undefined ? null : describeError(error) };
    },
  });
  const save = async (given: DaysByField, accepted: Erased | null) => {
    const { problem } = await act({ ...writeDays(given), acceptErasing: countAffected(accepted) });
    setErased(null);
    if (problem === null) {
      form.resetDirty();
      done();
    }
    return { problem };
  };
  return (
    <>
      <RecordForm
        form={form}
        submit="Save"
        label="Retention"
        needed="retention"
        justify="flex-start"
        isDisabled={!form.isDirty()}
      >
        {FIELDS.map(([name, label, description]) => (
          <form.Number
            key={name}
            name={name}
            label={label}
            description={description}
            placeholder="no limit"
            min={1}
            max={36_500}
            allowNegative={false}
          />
        ))}
      </RecordForm>
      <Modal opened={erased !== null} onClose={() => setErased(null)} title="Shorten the retention?" centered>
        {erased !== null && (
          <ConfirmErasure
            erased={erased}
            close={() => setErased(null)}
            save={async () => {
              const { problem } = await save(form.getValues(), erased);
              form.refuse(problem);
            }}
          />
        )}
      </Modal>
    </>
  );
}

function writeDays({ rawDays, bodyDays, metadataDays }: DaysByField) {
  const given = (days: Days) => (days === '' ? null : days);
  return { rawDays: given(rawDays), bodyDays: given(bodyDays), metadataDays: given(metadataDays) };
}

/** The number of emails that lose something. */
function countAffected(erased: Erased | null): number {
  return erased === null ? 0 : Math.max(erased.emails, erased.bodies, erased.rawMessages);
}

function isShorter(days: Days, before: number | null): boolean {
  return days !== '' && (before === null || days < before);
}

/** The word that has to be typed. */
const WORD = 'erase';

type ConfirmErasureProps = { erased: Erased; close: () => void; save: () => Promise<void> };

/** Says what the new periods erase, and lets them be saved only after the word was typed. */
function ConfirmErasure({ erased: { emails, bodies, rawMessages }, close, save }: ConfirmErasureProps) {
  const form = useRecordForm({
    values: { typed: '' },
    submit: async () => {
      await save();
      return { problem: null };
    },
  });
  const isNothing = emails + bodies + rawMessages === 0;
  return (
    <RecordForm
      form={form}
      submit="Shorten retention"
      color="red.9"
      cancel={close}
      isDisabled={form.values.typed.trim().toLowerCase() !== WORD}
    >
      <Small>
        {isNothing
          ? 'No mail is that old yet. Mail is erased as it reaches the age, and cannot be restored.'
          : 'This mail is older than the new periods. It is erased within the hour and cannot be restored:'}
      </Small>
      {!isNothing && (
        <List size="sm">
          <List.Item>{countedAtLeast(emails, 'email')} completely</List.Item>
          <List.Item>the text of {countedAtLeast(bodies, 'email')}</List.Item>
          <List.Item>the raw message and attachments of {countedAtLeast(rawMessages, 'email')}</List.Item>
        </List>
      )}
      <form.Text name="typed" label={`Type ${WORD} to confirm`} data-autofocus />
    </RecordForm>
  );
}

const SERVICE = graphql(`
  query DashboardService {
    viewer {
      service {
        version publicUrl mailHostname isMailHostnameLocal smtpHost smtpPort trustedDomains isSignUpOpen retentionDays
        hasGuardModel
      }
    }
  }
`);

/** Configuration of the service. */
export function ServerSection() {
  const query = useLiveQuery({ query: SERVICE });
  return (
    <LoadedSection title="Service" about="Settings of the service, set by its operator." query={query} height={220}>
      {({ viewer: { service } }) => <ServiceFacts service={service} />}
    </LoadedSection>
  );
}

function ServiceFacts({ service }: { service: ResultOf<typeof SERVICE>['viewer']['service'] }) {
  const { version, mailHostname, isMailHostnameLocal, smtpHost, smtpPort, trustedDomains, retentionDays } = service;
  return (
    <DataList orientation="vertical" withDivider>
      <Fact name="Version">Postroom {version}</Fact>
      <Fact name="URL of the dashboard and the API" copy={baseUrl(service)}>
        <Code>{baseUrl(service)}</Code>
      </Fact>
      <Fact name="Mail server name for MX records" copy={!isMailHostnameLocal && mailHostname}>
        <Code style={{ flex: 'none' }}>{mailHostname}</Code>
        {isMailHostnameLocal && (
          <Small>known only to this machine; set MAIL_HOSTNAME before you publish MX records</Small>
        )}
      </Fact>
      <Fact name="SMTP host and port" copy={`${smtpHost}:${smtpPort}`}>
        <Code>{`${smtpHost}:${smtpPort}`}</Code>
      </Fact>
      <Fact name="Trusted domains, which need no DNS records">
        {trustedDomains.length === 0 ? 'none' : <Names names={trustedDomains} />}
      </Fact>
      <Fact name="Retention">{retentionDays === null ? 'no limit' : counted(retentionDays, 'day')}</Fact>
      <Fact name="Sign-up">{service.isSignUpOpen ? 'open to all visitors' : 'closed'}</Fact>
      <Fact name="Language model for guard rules">{service.hasGuardModel ? 'configured' : 'none'}</Fact>
    </DataList>
  );
}

/** Number of names shown at first. */
const SHOWN_NAMES = 8;

function Names({ names }: { names: readonly string[] }) {
  const more = names.length - SHOWN_NAMES;
  return (
    <Group gap={6}>
      {names.slice(0, SHOWN_NAMES).map((name) => (
        <Code key={name}>{name}</Code>
      ))}
      {more > 0 && <Hint>and {more} more</Hint>}
    </Group>
  );
}
