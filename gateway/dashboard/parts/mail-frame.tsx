import { Box, Group, Skeleton, Stack, useComputedColorScheme } from '@mantine/core';
import { useElementSize, useLocalStorage } from '@mantine/hooks';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { mutation, record } from '../graphql.ts';
import { joinFrame } from '../shell/focus.ts';
import { QuietButton } from './controls.tsx';
import { darken, isDarkAlready } from './dark-mail.ts';
import { Icon } from './icons.ts';
import classes from './mail-frame.module.css';
import { notify } from './notify.tsx';
import { ErrorAlert, Small } from './text.tsx';
import { useAct } from './use-act.ts';
import { counted } from './words.ts';

/** Maximum height; longer emails scroll. Pixels. */
const MAX_HEIGHT = 8_000;
/** Height of an email that cannot be measured. Pixels. */
const FIXED_HEIGHT = 560;
const FIRST_HEIGHT = 140;
/** Width of both borders of the frame. Pixels. */
const BORDERS = 2;
/** Smallest scale of an email that is wider than its frame. One that would have to be smaller keeps its size, and scrolls. */
const MIN_SCALE = 0.4;
/** Delay before the first failure is retried, since the service limits simultaneous requests. Milliseconds. */
const RETRY_MS = 1_500;

/**
 * Permissions of a shown email: it may open links in new tabs, but never run scripts. The origin is kept only
 * so that the page can read the height (decision 37).
 */
const SANDBOX = 'allow-same-origin allow-popups allow-popups-to-escape-sandbox';

interface MailFrameProps {
  emailId: string;
  /** for screen readers */
  title: string;
  /** width of the simulated screen in pixels, scaled down to fit; null: the width of the page */
  width?: number | null;
}

/** Shows the HTML of an email on white. Remote images load on request, or at once if the user always shows those of the sender. */
export function MailFrame(props: MailFrameProps) {
  return <FrameOfMail key={props.emailId} {...props} />;
}

interface Shown {
  /** whether remote images are loaded */
  hasRemoteImages: boolean;
  remoteImages: number;
  trackingPixels: number;
}

function FrameOfMail({ emailId, title, width = null }: MailFrameProps) {
  const [hasRemoteImages, setRemoteImages] = useState(false);
  const [tries, setTries] = useState(1);
  const [state, setState] = useState<Shown | 'loading' | 'unmeasured' | 'failed'>('loading');
  const [height, setHeight] = useState(FIRST_HEIGHT);
  // Of a mail without quoted text: null.
  const [isQuoteShown, setQuoteShown] = useState<boolean | null>(null);
  const observer = useRef<ResizeObserver | null>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => () => observer.current?.disconnect(), []);

  const begin = useCallback(() => {
    setState('loading');
    setQuoteShown(null);
    setTries((before) => before + 1);
  }, []);
  useEffect(() => {
    if (state !== 'failed' || tries > 1) return;
    const timer = window.setTimeout(begin, RETRY_MS);
    return () => window.clearTimeout(timer);
  }, [state, tries, begin]);

  const onLoad = (loaded: HTMLIFrameElement) => {
    observer.current?.disconnect();
    const shown = readShown(loaded);
    setState(shown);
    joinFrame(loaded);
    const mail = loaded.contentDocument?.documentElement;
    setQuoteShown(takeFold(mail)?.open ?? null);
    if (typeof shown === 'string' || mail === undefined) return setHeight(FIXED_HEIGHT);
    const measure = () => {
      // A mail with heights in percent or vh is as high as its frame, and would never shrink.
      loaded.style.height = '1px';
      fitWidth(mail);
      const zoom = Number(mail.style.zoom) || 1;
      const content = Math.max(mail.getBoundingClientRect().height, mail.scrollHeight * zoom);
      const next = Math.min(MAX_HEIGHT, Math.ceil(content));
      loaded.style.height = `${next}px`;
      setHeight(next);
    };
    observer.current = new ResizeObserver(measure);
    observer.current.observe(mail);
    measure();
  };
  const { isDark, canDarken, setDark } = useDarkMail();
  const [isLight, setLight] = useState(false);
  useEffect(() => {
    if (typeof state !== 'object' || frame.current === null) return;
    const hasLight = canDarken && !isDarkAlready(frame.current);
    setLight(hasLight);
    darken(frame.current, isDark && hasLight);
  }, [state, isDark, canDarken]);
  const load = () => {
    setRemoteImages(true);
    begin();
  };
  const toggleQuote = () => {
    const fold = takeFold(frame.current?.contentDocument?.documentElement);
    if (fold === null) return;
    fold.open = !fold.open;
    setQuoteShown(fold.open);
  };
  const { ref: place, width: room } = useElementSize();
  const scale = width === null || room === 0 ? 1 : Math.min(1, (room - BORDERS) / width);
  const isFinal = state === 'failed' && tries > 1;
  const isLoading = state === 'loading' || (state === 'failed' && !isFinal);
  return (
    <Stack gap="xs" ref={place}>
      <Box aria-live="polite">
        <Notice emailId={emailId} state={state} isRequested={hasRemoteImages} load={load} reload={begin} />
        {isLight && typeof state === 'object' && (
          <QuietButton
            label={isDark ? 'Show original colors' : 'Show dark colors'}
            size="compact-xs"
            mt={4}
            onClick={() => setDark(!isDark)}
          />
        )}
      </Box>
      {isFinal ? (
        <ErrorAlert role="alert" icon={<Icon name="alert-triangle" />} title="Could not load this email">
          <QuietButton label="Try again" size="xs" onClick={begin} />
        </ErrorAlert>
      ) : (
        <Box
          className={classes['surface'] ?? ''}
          aria-busy={isLoading}
          style={
            width === null
              ? {}
              : { width: width * scale + BORDERS, height: height * scale + BORDERS, marginInline: 'auto' }
          }
        >
          <iframe
            // Recreated each time, because navigation in a frame adds entries to the browser history.
            key={tries}
            ref={frame}
            className={classes['frame']}
            title={title}
            src={`/api/e2/emails/${encodeURIComponent(emailId)}/html?images=${hasRemoteImages ? 'remote' : 'trusted'}`}
            sandbox={SANDBOX}
            referrerPolicy="no-referrer"
            loading="lazy"
            style={
              width === null ? { height } : { height, width, transform: `scale(${scale})`, transformOrigin: '0 0' }
            }
            onLoad={(event) => onLoad(event.currentTarget)}
          />
          {isLoading && <Skeleton className={classes['cover'] ?? ''} radius={0} />}
        </Box>
      )}
      {isQuoteShown !== null && <QuotedTextButton isShown={isQuoteShown} toggle={toggleQuote} />}
    </Stack>
  );
}

/** Returns the element that folds the quoted text of a mail, without its own button; null if it quotes nothing. */
function takeFold(mail: HTMLElement | undefined): HTMLDetailsElement | null {
  const fold = mail?.querySelector<HTMLDetailsElement>('details.postroom-quoted') ?? null;
  fold?.querySelector<HTMLElement>(':scope > summary')?.style.setProperty('display', 'none', 'important');
  return fold;
}

/** Whether mail is shown in dark colors: only in the dark theme, and as the user chose last in this browser. */
function useDarkMail(): { isDark: boolean; canDarken: boolean; setDark: (isDark: boolean) => void } {
  const canDarken = useComputedColorScheme('light') === 'dark';
  const [colors, setColors] = useLocalStorage<'dark' | 'original'>({
    key: 'postroom-mail-colors',
    defaultValue: 'dark',
    getInitialValueInEffect: false,
  });
  return {
    isDark: canDarken && colors === 'dark',
    canDarken,
    setDark: (isDark) => setColors(isDark ? 'dark' : 'original'),
  };
}

/** Scales an email that is wider than its frame, so that all of it is seen, as long as it can be read. */
function fitWidth(mail: HTMLElement): void {
  mail.style.zoom = '';
  const { clientWidth, scrollWidth } = mail;
  const scale = clientWidth / scrollWidth;
  if (scale >= MIN_SCALE && scale < 1) mail.style.zoom = String(scale);
}

interface NoticeProps {
  emailId: string;
  state: Shown | 'loading' | 'unmeasured' | 'failed';
  /** whether the user asked for the images of this email */
  isRequested: boolean;
  load: () => void;
  reload: () => void;
}

/** Shows what was removed from the email, and buttons to load remote images. */
function Notice({ emailId, state, isRequested, load, reload }: NoticeProps) {
  if (state === 'loading' || state === 'failed') return null;
  const { hasRemoteImages, remoteImages, trackingPixels } =
    state === 'unmeasured' ? { hasRemoteImages: isRequested, remoteImages: null, trackingPixels: 0 } : state;
  const isBlocked = !hasRemoteImages && remoteImages !== 0;
  const words = [
    ...(isBlocked ? [blockedWords(remoteImages)] : []),
    ...(trackingPixels === 0 ? [] : [`${counted(trackingPixels, 'tracking pixel')} removed.`]),
  ];
  if (words.length === 0) return null;
  return (
    <Group gap="sm">
      <Icon name="photo-off" size={18} stroke={1.5} />
      <Small>{words.join(' ')}</Small>
      {isBlocked && (
        <QuietButton
          label={remoteImages === null ? 'Load remote images' : `Load remote images (${remoteImages})`}
          size="compact-sm"
          onClick={load}
        />
      )}
      {isBlocked && <AlwaysShowImages emailId={emailId} done={reload} />}
    </Group>
  );
}

function blockedWords(count: number | null): string {
  if (count === null) return 'Remote images are not loaded.';
  return `${counted(count, 'remote image is', 'remote images are')} not loaded.`;
}

/**
 * Returns the facts of the framed document. A foreign or inaccessible document is an error, except over
 * plain HTTP, where browsers do not mark frame requests and the email has no origin.
 */
function readShown(frame: HTMLIFrameElement): Shown | 'unmeasured' | 'failed' {
  const shown = frame.contentDocument;
  if (shown === null) return window.isSecureContext ? 'failed' : 'unmeasured';
  const { remoteImages, trackingPixels, imagesLoaded } = shown.documentElement.dataset;
  if (remoteImages === undefined) return 'failed';
  return {
    hasRemoteImages: imagesLoaded !== undefined,
    remoteImages: Number(remoteImages),
    trackingPixels: Number(trackingPixels),
  };
}

const SENDER = record(`email { id type from { address } content { authentication { sender { verdict } } } }`);
const ADD_IMAGE_SENDER = mutation('addImageSender', 'sender { address }');

/** Button that always shows the images of the sender. Nothing if no domain confirms that the email is from this sender. */
function AlwaysShowImages({ emailId, done }: { emailId: string; done: () => void }) {
  const [{ data }] = useQuery({ query: SENDER, variables: { id: emailId } });
  const { act, isBusy } = useAct(ADD_IMAGE_SENDER);
  const email = data?.email;
  if (email?.type !== 'RECEIVED' || email.content.authentication?.sender.verdict !== 'VERIFIED') return null;
  const { address } = email.from;
  const add = async () => {
    if ((await act({ address })).problem !== null) return;
    notify({
      message: `Images from ${address} are always shown. You can change this in the settings.`,
      color: 'green',
    });
    done();
  };
  return (
    <QuietButton
      label={`Always show images from ${address}`}
      needed={['organize', 'everything']}
      size="compact-sm"
      maw="100%"
      title={`Always show images from ${address}`}
      loading={isBusy}
      onClick={() => void add()}
    />
  );
}

type QuotedTextButtonProps = { what?: string; isShown: boolean; toggle: () => void };

/** Shows and hides what a message quotes, below its own words; the same for HTML and for text. */
export function QuotedTextButton({ what = 'quoted text', isShown, toggle }: QuotedTextButtonProps) {
  return (
    <QuietButton
      label={`${isShown ? 'Hide' : 'Show'} ${what}`}
      size="compact-xs"
      w="fit-content"
      aria-expanded={isShown}
      onClick={toggle}
    />
  );
}
