import { Group, SegmentedControl, Switch, useMantineColorScheme } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { rememberUndoSeconds, UNDO_CHOICES, undoSeconds } from '../../composer/browser-settings.ts';
import { useStoredChoice } from '../../parts/browser-storage.ts';
import { Icon } from '../../parts/icons.ts';
import { Page } from '../../parts/page.tsx';
import { Section, UrlTabs } from '../../parts/section.tsx';
import { Small } from '../../parts/text.tsx';
import { useRight } from '../../shell/viewer.ts';
import { ExportSection, ImagesSection, ProfileSection, SnippetsSection } from './account-settings.tsx';
import { ScimSection, SingleSignOnSection } from './company-settings.tsx';
import { EraseSection } from './erase-settings.tsx';
import { LimitsSection, RetentionSection, ServerSection } from './server-settings.tsx';
import { ProgramsSection, SessionsSection } from './session-settings.tsx';
import style from './settings-page.module.css';
import { PasskeysSection, PasswordSection, SecondFactorSection } from './sign-in-settings.tsx';

/** The account, its sign-in methods, and facts about the service. */
export function SettingsPage() {
  const mayRequire = useRight('members');
  const isOwner = useRight('ownership');
  const columns = (sections: ReactNode) => <div className={style['columns']}>{sections}</div>;
  const account = (
    <>
      <ProfileSection />
      <AppearanceSection />
      <UndoSection />
      <DesktopNoticesSection />
      <ImagesSection />
      <ExportSection />
      <EraseSection />
    </>
  );
  const security = (
    <>
      <PasswordSection />
      <SecondFactorSection mayRequire={mayRequire} />
      <PasskeysSection />
      <SessionsSection />
      {isOwner && <SingleSignOnSection />}
      {isOwner && <ScimSection />}
      <ProgramsSection />
    </>
  );
  const service = (
    <>
      <LimitsSection />
      <RetentionSection />
      <ServerSection />
    </>
  );
  return (
    <Page title="Settings">
      <UrlTabs
        replace
        tabs={[
          { name: 'account', label: 'Account', icon: 'user', content: columns(account) },
          { name: 'security', label: 'Security', icon: 'lock', content: columns(security) },
          { name: 'snippets', label: 'Snippets', icon: 'bolt', needed: 'send', content: columns(<SnippetsSection />) },
          { name: 'service', label: 'Service', icon: 'server-2', content: columns(service) },
        ]}
      />
    </Page>
  );
}

const SCHEMES = [
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
  { value: 'auto', label: 'System', icon: 'sun-moon' },
] as const;

/** Light or dark theme. */
function AppearanceSection() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Section title="Appearance" about="Saved in this browser.">
      <SegmentedControl
        aria-label="Color scheme"
        w="fit-content"
        value={colorScheme}
        onChange={(scheme) => setColorScheme(scheme)}
        data={SCHEMES.map(({ value, label, icon }) => ({
          value,
          label: (
            <Group gap={6} wrap="nowrap">
              <Icon name={icon} size={16} />
              {label}
            </Group>
          ),
        }))}
      />
    </Section>
  );
}

/** Time to undo sending. */
function UndoSection() {
  const [seconds, setSeconds] = useState(undoSeconds);
  return (
    <Section
      title="Undo send"
      about="An email that you send here waits for these seconds, and its notice has an Undo button. Saved in this browser."
    >
      <SegmentedControl
        w="fit-content"
        aria-label="Time to undo sending"
        value={String(seconds)}
        onChange={(value) => {
          rememberUndoSeconds(Number(value));
          setSeconds(Number(value));
        }}
        data={UNDO_CHOICES.map((choice) => ({ value: String(choice), label: choice === 0 ? 'Off' : String(choice) }))}
      />
    </Section>
  );
}

/** Notices of the system for new mail, which the browser asks for once. */
function DesktopNoticesSection() {
  const [isOn, setOn] = useStoredChoice('postroom-desktop-notices');
  const isSupported = 'Notification' in window;
  const [isRefused, setRefused] = useState(isSupported && Notification.permission === 'denied');
  const change = async (wanted: boolean) => {
    const permission = wanted ? await Notification.requestPermission() : 'granted';
    setRefused(permission === 'denied');
    setOn(wanted && permission === 'granted');
  };
  return (
    <Section
      title="Desktop notices"
      about="Shows the sender and the subject of new mail while this page is open and you look at something else. Saved in this browser."
    >
      <Switch
        label="Notify me of new mail"
        checked={isOn && !isRefused}
        disabled={!isSupported}
        onChange={(event) => void change(event.currentTarget.checked)}
      />
      {!isSupported && <Small>This browser has no notices, or only over HTTPS.</Small>}
      {isRefused && (
        <Small>This browser does not let this page show notices. Allow them in its settings of the site.</Small>
      )}
    </Section>
  );
}
