import { Anchor, Box, Group, Loader, Modal, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { previewPath } from './attachment-paths.ts';
import { Block } from './command.tsx';
import { FileDownload } from './file-download.tsx';
import { Hint, Small } from './text.tsx';

export interface PreviewedAttachment {
  emailId: string;
  index: number;
  filename: string;
  contentType: string;
  downloadPath: string;
}

/** An image or a text of a message in a dialog. The service says what a file is by its bytes, and serves nothing that could run. */
export function AttachmentPreview({ attachment, close }: { attachment: PreviewedAttachment; close: () => void }) {
  const { filename, downloadPath } = attachment;
  const shown = usePreview(previewPath(attachment.emailId, attachment.index));
  return (
    <Modal opened onClose={close} title={filename} size="xl" closeButtonProps={{ 'aria-label': 'Close preview' }}>
      <Stack gap="sm">
        {shown.kind === 'loading' && <Loader aria-label="Loading the preview" />}
        {shown.kind === 'none' && <Small role="alert">{shown.reason}</Small>}
        {shown.kind === 'image' && (
          <Box ta="center">
            <img src={shown.url} alt={filename} style={{ maxWidth: '100%', maxHeight: '70vh' }} />
          </Box>
        )}
        {shown.kind === 'text' && (
          <>
            <Block text={shown.text} label={`Text of ${filename}`} height="65vh" />
            {shown.isCut && <Hint>The text is truncated. Download the file to see all of it.</Hint>}
          </>
        )}
        <Group justify="flex-end">
          {shown.kind === 'pdf' && (
            <Anchor href={shown.url} target="_blank" rel="noopener noreferrer" size="sm">
              Open PDF in a new tab
            </Anchor>
          )}
          <FileDownload label="Download" path={downloadPath} files={[attachment]} size="xs" />
        </Group>
      </Stack>
    </Modal>
  );
}

type Shown =
  | { kind: 'loading' }
  | { kind: 'none'; reason: string }
  | { kind: 'pdf' | 'image'; url: string }
  | { kind: 'text'; text: string; isCut: boolean };

function usePreview(url: string): Shown {
  const [shown, setShown] = useState<Shown>({ kind: 'loading' });
  useEffect(() => {
    const controller = new AbortController();
    loadPreview(url, controller.signal).then(setShown, () => {
      if (!controller.signal.aborted) setShown({ kind: 'none', reason: 'Could not load the preview. Try again.' });
    });
    return () => controller.abort();
  }, [url]);
  return shown;
}

async function loadPreview(url: string, signal: AbortSignal): Promise<Shown> {
  const response = await fetch(url, { signal });
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok) {
    const { error } = (await response.json()) as { error?: string };
    return { kind: 'none', reason: error ?? 'This file has no preview.' };
  }
  if (type.startsWith('text/plain'))
    return { kind: 'text', text: await response.text(), isCut: response.headers.get('x-preview-cut') === 'true' };
  // The browser reads it again by its URL, under the policy of the response.
  await response.body?.cancel();
  return { kind: type === 'application/pdf' ? 'pdf' : 'image', url };
}
