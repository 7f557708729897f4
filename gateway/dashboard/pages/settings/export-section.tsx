import { Button, Group, Text } from '@mantine/core';
import { confirmSignIn } from '../../parts/confirm-sign-in.ts';
import { IconDownload } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { auth } from '../sign-in/auth-calls.ts';
import { Section } from './section.tsx';

/** Starts the download, after the person has confirmed the sign-in if that is needed. */
export async function startExport(): Promise<void> {
  const { answer } = await auth.secondFactor();
  if (answer?.isFresh === false && !(await confirmSignIn())) return;
  window.location.assign('/api/auth/export');
}

/** Downloads all data of the account. */
export function ExportSection() {
  return (
    <Section
      title="Your data"
      about="All mail, threads, domains, endpoints and settings of this account, as one archive: JSON lines for documents, and each message as an .eml file."
    >
      <Text size="sm" c="dimmed">
        Webhook secrets, private keys of domains and API keys are not included. The download starts at once; a large
        account takes minutes.
      </Text>
      <Group>
        <Button
          {...needs('export')}
          component="a"
          href="/api/auth/export"
          download
          onClick={(event) => {
            event.preventDefault();
            void startExport();
          }}
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export account
        </Button>
      </Group>
    </Section>
  );
}
