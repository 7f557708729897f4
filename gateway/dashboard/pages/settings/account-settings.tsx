import { Code, FileButton, Group, TextInput } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { SNIPPET_PLACEHOLDERS } from '../../../../core/sending/snippet.ts';
import { SNIPPETS, type Snippet } from '../../composer/composer-documents.ts';
import { graphql, mutation } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActButton, ConfirmButton, fileField } from '../../parts/buttons.tsx';
import { confirmSignIn } from '../../parts/confirm-sign-in.ts';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded, LoadedSection, PlainList, Section } from '../../parts/section.tsx';
import { Fine, Hint, Small, Strong } from '../../parts/text.tsx';
import { Face } from '../../parts/thumbnail.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useFirstField } from '../../shell/keys.ts';
import { useRight } from '../../shell/viewer.ts';
import { auth } from '../sign-in/auth-calls.ts';
import { SettingRow, useAsked } from './setting-parts.tsx';

/** Name and address of the account. */
export function ProfileSection() {
  const { result } = useAsked(auth.session);
  const form = useRecordForm({
    values: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
    submit: ({ name }) => auth.rename(name.trim()),
    saved: () => {
      notify({ message: 'Your name was saved.', color: 'green' });
      form.resetDirty();
    },
  });
  const fill = useEffectEvent((name: string) => {
    form.setInitialValues({ name });
    form.reset();
  });
  const known = result?.user.name;
  useEffect(() => {
    if (known !== undefined) fill(known);
  }, [known]);
  return (
    <Section
      title="Profile"
      about={result ? <RelativeTime at={result.user.createdAt} prefix="Account created " /> : undefined}
    >
      <PictureField />
      <RecordForm form={form} submit="Save" label="Profile" justify="flex-start" isDisabled={!form.isDirty()}>
        <form.Text
          name="name"
          label="Name"
          description="Members of your workspaces see it beside what you do."
          autoComplete="name"
          maxLength={100}
          disabled={result === undefined}
        />
        <TextInput
          label="Email address"
          description="You sign in with this address. It cannot be changed."
          value={result?.user.email ?? ''}
          readOnly
        />
      </RecordForm>
    </Section>
  );
}

const PICTURE = graphql(`query SettingsPicture { viewer { id person { id name email image } } }`);
const SET_PICTURE = mutation('setPicture', 'image');

/** Pixels of each side of a picture that is uploaded here. */
const PICTURE_SIDE = 256;
/** Types that browsers scale down; not SVG, which has no pixels. */
const FILE_TYPES = 'image/avif,image/gif,image/jpeg,image/png,image/webp';
/** Bytes of a file that is scaled down here. */
const MAX_FILE_BYTES = 20_000_000;
const JPEG_QUALITY = 0.9;

/** The picture of the person, which members see beside the name. */
function PictureField() {
  const query = useLiveQuery({ query: PICTURE });
  const { act, isBusy } = useAct(SET_PICTURE);
  const [isReading, setReading] = useState(false);
  const person = query.data?.viewer.person;
  const set = async (content: string | null) => {
    const { problem } = await act({ content });
    if (problem !== null) return;
    notify({ message: content === null ? 'Your picture was removed.' : 'Your picture was saved.', color: 'green' });
    query.refresh();
  };
  const choose = async (file: File | null) => {
    if (file === null) return;
    setReading(true);
    const content = await scaleDown(file);
    setReading(false);
    if (content !== null) return set(content);
    notify({
      title: 'The picture was not saved',
      message: `${file.name} is no picture that this browser can read, or has more than 20 MB.`,
      color: 'red',
    });
  };
  if (person == null) return null;
  return (
    <Group gap="md">
      <Face name={person.name || person.email} image={person.image} size={64} />
      <div>
        <Group gap="xs">
          <FileButton accept={FILE_TYPES} onChange={(file) => void choose(file)} inputProps={fileField('Picture file')}>
            {(button) => (
              <QuietButton
                label={person.image === null ? 'Choose picture' : 'Change picture'}
                loading={isBusy || isReading}
                {...button}
              />
            )}
          </FileButton>
          {person.image !== null && (
            <QuietButton label="Remove picture" disabled={isBusy} onClick={() => void set(null)} />
          )}
        </Group>
        <Fine mt={4}>Members of your workspaces see it beside your name.</Fine>
      </div>
    </Group>
  );
}

/** Returns the middle of a picture as a JPEG in base64; null if the browser cannot read it. */
async function scaleDown(file: File): Promise<string | null> {
  const image = file.size > MAX_FILE_BYTES ? null : await createImageBitmap(file).catch(() => null);
  if (image === null) return null;
  const canvas = document.createElement('canvas');
  const to = PICTURE_SIDE;
  canvas.width = to;
  canvas.height = to;
  const context = canvas.getContext('2d');
  const { width, height } = image;
  const side = Math.min(width, height);
  if (context !== null) {
    // What is transparent would be black.
    context.fillStyle = '#fff';
    context.fillRect(0, 0, to, to);
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, (width - side) / 2, (height - side) / 2, side, side, 0, 0, to, to);
  }
  image.close();
  return canvas.toDataURL('image/jpeg', JPEG_QUALITY).split(',')[1] ?? null;
}

const IMAGE_SENDERS = graphql(`query DashboardImageSenders { viewer { id imageSenders { address createdAt } } }`);
const REMOVE_IMAGE_SENDER = mutation('removeImageSender', 'address');

/** Senders whose remote images are always shown. */
export function ImagesSection() {
  const query = useLiveQuery({ query: IMAGE_SENDERS });
  return (
    <LoadedSection
      title="Remote images"
      about="Images on other servers tell a sender when and where you read an email, so they are blocked. Emails from these senders load them at once, but only if the domain of the sender confirms the email (SPF or DKIM, and DMARC): a forged sender gets nothing. Tracking pixels are always removed."
      query={query}
      height={40}
    >
      {({ viewer: { imageSenders } }) => (
        <PlainList
          label="Senders whose images are shown"
          gap="xs"
          empty="No senders yet. Choose “Always show images” in an email to add its sender."
        >
          {imageSenders.map(({ address, createdAt }) => (
            <SettingRow key={address} name={address} about={<RelativeTime at={createdAt} prefix="Added " />}>
              <ActButton
                label="Remove"
                needed={['organize', 'everything']}
                aria-label={`Remove ${address}`}
                mutation={REMOVE_IMAGE_SENDER}
                input={{ address }}
                onDone={query.refresh}
              />
            </SettingRow>
          ))}
        </PlainList>
      )}
    </LoadedSection>
  );
}

const EXPORT_REASON = 'The export contains all mail of the account. It needs a sign-in within the last 5 minutes.';

/** Starts the download, after the person has confirmed the sign-in if that is needed. */
export async function startExport(): Promise<void> {
  const { result } = await auth.secondFactor();
  if (result?.isFresh === false && !(await confirmSignIn(EXPORT_REASON))) return;
  window.location.assign('/api/auth/export');
}

/** Downloads all data of the account. */
export function ExportSection() {
  return (
    <Section
      title="Your data"
      about="All mail, threads, domains, endpoints and settings of this account, as one archive: JSON lines for documents, and each message as an .eml file."
    >
      <Hint>
        Webhook secrets, private keys of domains and API keys are not included. The download starts at once; a large
        account takes minutes.
      </Hint>
      <QuietButton
        w="fit-content"
        label="Export account"
        icon="download"
        needed="export"
        href="/api/auth/export"
        download
        onClick={(event) => {
          event.preventDefault();
          void startExport();
        }}
      />
    </Section>
  );
}

const CREATE = mutation('createSnippet', 'snippet { id name text }');
const UPDATE = mutation('updateSnippet', 'snippet { id name text }');
const DELETE = mutation('deleteSnippet', 'deletedId');

/** Texts that the composer inserts. */
export function SnippetsSection() {
  const query = useLiveQuery({ query: SNIPPETS, types: ['Snippet'] });
  const mayChange = useRight('organize');
  /** the ID of the snippet that is edited; `new`: one to create */
  const [edited, setEdited] = useState<string | null>(null);
  const cancel = () => setEdited(null);
  const done = () => {
    cancel();
    query.refresh();
  };
  return (
    <Section
      title="Snippets"
      about="Texts for all members. Type / at the beginning of a line of an email to insert one."
      actions={mayChange && edited === null && <MainButton label="Create snippet" onClick={() => setEdited('new')} />}
    >
      {edited === 'new' && <SnippetForm snippet={null} done={done} cancel={cancel} />}
      <Loaded query={query} height={40}>
        {({ snippets }) => (
          <>
            {snippets.length === 0 && edited === null && <Small>No snippets yet.</Small>}
            <PlainList label="Snippets">
              {snippets.map((snippet) => (
                <li key={snippet.id}>
                  {edited === snippet.id ? (
                    <SnippetForm snippet={snippet} done={done} cancel={cancel} />
                  ) : (
                    <SnippetRow
                      snippet={snippet}
                      edit={mayChange ? () => setEdited(snippet.id) : null}
                      changed={query.refresh}
                    />
                  )}
                </li>
              ))}
            </PlainList>
          </>
        )}
      </Loaded>
    </Section>
  );
}

interface SnippetRowProps {
  snippet: Snippet;
  /** null: the person may not */
  edit: (() => void) | null;
  changed: () => void;
}

function SnippetRow({ snippet: { id, name, text }, edit, changed }: SnippetRowProps) {
  const { act: remove } = useAct(DELETE);
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap" align="flex-start">
      <div style={{ minWidth: 0 }}>
        <Strong className="postroom-wrap">{name}</Strong>
        <Fine lineClamp={2} className="postroom-wrap">
          {text}
        </Fine>
      </div>
      {edit !== null && (
        <Group gap="xs" wrap="nowrap">
          <QuietButton label="Edit" size="xs" aria-label={`Edit ${name}`} onClick={edit} />
          <ConfirmButton
            label="Delete"
            of={name}
            question="Delete snippet?"
            about={`${name} can no longer be inserted. Emails stay as they are.`}
            confirm="Delete snippet"
            act={() => remove({ id }).then(changed)}
          />
        </Group>
      )}
    </Group>
  );
}

interface SnippetFormProps {
  /** null: a new one */
  snippet: Snippet | null;
  done: () => void;
  cancel: () => void;
}

function SnippetForm({ snippet, done, cancel }: SnippetFormProps) {
  useFirstField();
  const { act: create } = useAct(CREATE, { quiet: true });
  const { act: update } = useAct(UPDATE, { quiet: true });
  const form = useRecordForm({
    values: { name: snippet?.name ?? '', text: snippet?.text ?? '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      text: (text) => (text.trim() === '' ? 'Enter a text.' : null),
    },
    submit: async (input) => (snippet === null ? create(input) : update({ id: snippet.id, ...input })),
    saved: done,
  });
  return (
    <RecordForm
      form={form}
      submit={snippet === null ? 'Create snippet' : 'Save snippet'}
      label={snippet === null ? 'New snippet' : `Edit ${snippet.name}`}
      cancel={cancel}
      gap="xs"
    >
      <form.Text name="name" label="Name" maxLength={64} required data-autofocus />
      <form.LongText name="text" label="Text" minRows={4} maxRows={16} maxLength={10_000} required />
      <Fine>
        {'Placeholders: '}
        {Object.entries(SNIPPET_PLACEHOLDERS).map(([placeholder, about]) => (
          <Code key={placeholder} mr={4} title={about}>{`{{${placeholder}}}`}</Code>
        ))}
      </Fine>
    </RecordForm>
  );
}
