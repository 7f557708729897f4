import { Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { useStoredChoice } from '../../parts/browser-storage.ts';
import { Section } from './section.tsx';

/** Notices of the system for new mail, which the browser asks for once. */
export function DesktopNoticesSection() {
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
      {!isSupported && <Text size="sm">This browser has no notices, or only over HTTPS.</Text>}
      {isRefused && (
        <Text size="sm">This browser does not let this page show notices. Allow them in its settings of the site.</Text>
      )}
    </Section>
  );
}
