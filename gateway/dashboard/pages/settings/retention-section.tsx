import { Alert, Button, Group, List, Modal, NumberInput, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useClient } from 'urql';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { counted } from '../../parts/counted.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { needs } from '../../parts/needs.ts';
import { problemOf, useAct } from '../../parts/use-act.ts';
import { Section } from './section.tsx';

const RETENTION = graphql(`
  query DashboardRetention { viewer { retention { rawDays bodyDays metadataDays isDefault } } }
`);
const UPDATE_RETENTION = graphql(`
  mutation ChangeRetention($input: UpdateRetentionInput!) {
    updateRetention(input: $input) {
      __typename
      ... on UpdateRetentionPayload { retention { rawDays bodyDays metadataDays isDefault } }
      ... on Error { message code }
    }
  }
`);

const PREVIEW = graphql(`
  query PreviewRetention($rawDays: Int, $bodyDays: Int, $metadataDays: Int) {
    viewer {
      retentionPreview(rawDays: $rawDays, bodyDays: $bodyDays, metadataDays: $metadataDays) { emails bodies rawMessages }
    }
  }
`);

/** Retention periods. */
export function RetentionSection() {
  const { data, error, refresh } = useLiveQuery({ query: RETENTION, variables: {}, kinds: [] });
  const retention = data?.viewer.retention;
  const about = `Older mail is permanently removed within hours. ${
    retention?.isDefault === true ? 'These are the service defaults; your values override them.' : ''
  }`;
  return (
    <Section title="Retention" about={about}>
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {retention === undefined && error === undefined && <Skeleton h={200} />}
      {retention !== undefined && <RetentionForm retention={retention} done={refresh} />}
    </Section>
  );
}

type ShownRetention = ResultOf<typeof RETENTION>['viewer']['retention'];

const FIELDS = [
  ['rawDays', 'Raw messages and attachments (days)', 'At most as long as bodies.'],
  ['bodyDays', 'Bodies (days)', 'Texts and their search index. At most as long as all other data.'],
  ['metadataDays', 'All other data (days)', 'Subjects, people, deliveries and all other data of an email.'],
] as const;

/** An empty field means that nothing is removed. */
type Days = number | '';

type FieldName = (typeof FIELDS)[number][0];
type DaysByField = Record<FieldName, number | null>;

/** What the values that wait for confirmation would erase. */
type Erased = ResultOf<typeof PREVIEW>['viewer']['retentionPreview'];

function RetentionForm({ retention, done }: { retention: ShownRetention; done: () => void }) {
  const { act, isBusy } = useAct(UPDATE_RETENTION, { quiet: true, done: 'The retention settings were saved.' });
  const client = useClient();
  const [trouble, setTrouble] = useState<string | null>(null);
  const [erased, setErased] = useState<Erased | null>(null);
  const form = useForm<Record<FieldName, Days>>({
    initialValues: {
      rawDays: retention.rawDays ?? '',
      bodyDays: retention.bodyDays ?? '',
      metadataDays: retention.metadataDays ?? '',
    },
  });
  const input = (): DaysByField => {
    const daysOf = (days: Days) => (days === '' ? null : days);
    const { rawDays, bodyDays, metadataDays } = form.values;
    return { rawDays: daysOf(rawDays), bodyDays: daysOf(bodyDays), metadataDays: daysOf(metadataDays) };
  };
  const save = async () => {
    const { problem } = await act({ input: { ...input(), acceptErasing: most(erased) } });
    setErased(null);
    if (problem !== null) return setTrouble(problem.message);
    form.resetDirty();
    done();
  };
  const check = async () => {
    setTrouble(null);
    if (!FIELDS.some(([name]) => isShorter(input()[name], retention[name]))) return save();
    const { data, error } = await client.query(PREVIEW, input(), { requestPolicy: 'network-only' }).toPromise();
    if (error !== undefined) setTrouble(problemOf(error).message);
    else if (data !== undefined) setErased(data.viewer.retentionPreview);
  };
  return (
    <form onSubmit={form.onSubmit(() => void check())} noValidate aria-label="Retention">
      <Stack>
        {FIELDS.map(([name, label, description]) => (
          <NumberInput
            key={name}
            label={label}
            description={description}
            placeholder="no limit"
            min={1}
            max={36_500}
            allowDecimal={false}
            allowNegative={false}
            {...form.getInputProps(name)}
          />
        ))}
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group>
          <Button {...needs('retention')} type="submit" loading={isBusy} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
      </Stack>
      <ConfirmErasure erased={erased} isBusy={isBusy} close={() => setErased(null)} save={() => void save()} />
    </form>
  );
}

/** The number of emails that lose something. */
function most(erased: Erased | null): number {
  return erased === null ? 0 : Math.max(erased.emails, erased.bodies, erased.rawMessages);
}

function isShorter(days: number | null, before: number | null): boolean {
  return days !== null && (before === null || days < before);
}

/** The word that has to be typed. */
const WORD = 'erase';

/** Says what the new periods erase, and lets them be saved only after the word was typed. */
function ConfirmErasure({
  erased,
  isBusy,
  close,
  save,
}: {
  erased: Erased | null;
  isBusy: boolean;
  close: () => void;
  save: () => void;
}) {
  const [typed, setTyped] = useState('');
  const leave = () => {
    setTyped('');
    close();
  };
  const { emails = 0, bodies = 0, rawMessages = 0 } = erased ?? {};
  const isNothing = emails + bodies + rawMessages === 0;
  return (
    <Modal opened={erased !== null} onClose={leave} title="Shorten the retention?" centered>
      <Stack>
        <Text size="sm">
          {isNothing
            ? 'No mail is that old yet. Mail is erased as it reaches the age, and cannot be restored.'
            : 'This mail is older than the new periods. It is erased within the hour and cannot be restored:'}
        </Text>
        {!isNothing && (
          <List size="sm">
            <List.Item>{countText(emails)} completely</List.Item>
            <List.Item>the text of {countText(bodies)}</List.Item>
            <List.Item>the raw message and attachments of {countText(rawMessages)}</List.Item>
          </List>
        )}
        <TextInput
          label={`Type ${WORD} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={leave}>
            Cancel
          </Button>
          <Button
            color="red.9"
            disabled={typed.trim().toLowerCase() !== WORD}
            loading={isBusy}
            onClick={() => {
              setTyped('');
              save();
            }}
          >
            Shorten retention
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Counting stops there. */
const MAX_COUNTED = 100_000;

function countText(count: number): string {
  return counted(count, 'email').replace(' ', count >= MAX_COUNTED ? ' or more ' : ' ');
}
