import { createElement, type SVGAttributes } from 'react';

interface IconProps extends Omit<SVGAttributes<SVGSVGElement>, 'stroke'> {
  /** width and height in pixels */
  size?: number;
  /** width of the lines, of the 24 units that an icon is wide */
  stroke?: number;
}

/** Returns an icon of Tabler Icons. The build puts its shapes in the place of its name: see `icons` in vite.config.ts. */
function icon(shapes: string) {
  return ({ size = 24, stroke = 2, ...rest }: IconProps) =>
    createElement('svg', {
      viewBox: '0 0 24 24',
      width: size,
      height: size,
      strokeWidth: stroke,
      ...rest,
      style: { flexShrink: 0, ...rest.style },
      // A constant of the build.
      dangerouslySetInnerHTML: { __html: shapes },
    });
}

export type IconType = ReturnType<typeof icon>;

export const IconActivity = icon('activity');
export const IconAdjustmentsHorizontal = icon('adjustments-horizontal');
export const IconAlertTriangle = icon('alert-triangle');
export const IconApi = icon('api');
export const IconArchive = icon('archive');
export const IconArchiveOff = icon('archive-off');
export const IconArrowBackUp = icon('arrow-back-up');
export const IconArrowDown = icon('arrow-down');
export const IconArrowDownLeft = icon('arrow-down-left');
export const IconArrowFork = icon('arrow-fork');
export const IconArrowForwardUp = icon('arrow-forward-up');
export const IconArrowLeft = icon('arrow-left');
export const IconArrowMerge = icon('arrow-merge');
export const IconArrowMoveRight = icon('arrow-move-right');
export const IconArrowUp = icon('arrow-up');
export const IconArrowUpRight = icon('arrow-up-right');
export const IconArrowsJoin = icon('arrows-join');
export const IconArrowsSplit = icon('arrows-split');
export const IconAt = icon('at');
export const IconBan = icon('ban');
export const IconBell = icon('bell');
export const IconBolt = icon('bolt');
export const IconBook = icon('book');
export const IconBookmark = icon('bookmark');
export const IconBookmarkFilled = icon('bookmark-filled');
export const IconBraces = icon('braces');
export const IconBrandGraphql = icon('brand-graphql');
export const IconBuilding = icon('building');
export const IconCalendar = icon('calendar');
export const IconCalendarClock = icon('calendar-clock');
export const IconCheck = icon('check');
export const IconChecks = icon('checks');
export const IconChevronDown = icon('chevron-down');
export const IconChevronUp = icon('chevron-up');
export const IconCircleCheck = icon('circle-check');
export const IconClock = icon('clock');
export const IconClockPause = icon('clock-pause');
export const IconCode = icon('code');
export const IconCopy = icon('copy');
export const IconCornerUpLeft = icon('corner-up-left');
export const IconCornerUpLeftDouble = icon('corner-up-left-double');
export const IconDeviceDesktop = icon('device-desktop');
export const IconDeviceMobile = icon('device-mobile');
export const IconDots = icon('dots');
export const IconDownload = icon('download');
export const IconExclamationCircle = icon('exclamation-circle');
export const IconExternalLink = icon('external-link');
export const IconEye = icon('eye');
export const IconEyeOff = icon('eye-off');
export const IconFile = icon('file');
export const IconFileDescription = icon('file-description');
export const IconFileSearch = icon('file-search');
export const IconFileText = icon('file-text');
export const IconFingerprint = icon('fingerprint');
export const IconGauge = icon('gauge');
export const IconHelp = icon('help');
export const IconHistory = icon('history');
export const IconInbox = icon('inbox');
export const IconInfoCircle = icon('info-circle');
export const IconKey = icon('key');
export const IconKeyboard = icon('keyboard');
export const IconLayoutList = icon('layout-list');
export const IconList = icon('list');
export const IconListCheck = icon('list-check');
export const IconLock = icon('lock');
export const IconLogout = icon('logout');
export const IconMail = icon('mail');
export const IconMailCheck = icon('mail-check');
export const IconMailOff = icon('mail-off');
export const IconMailOpened = icon('mail-opened');
export const IconMailQuestion = icon('mail-question');
export const IconMapOff = icon('map-off');
export const IconMessageReply = icon('message-reply');
export const IconMoon = icon('moon');
export const IconPaperclip = icon('paperclip');
export const IconPencil = icon('pencil');
export const IconPencilPlus = icon('pencil-plus');
export const IconPhoto = icon('photo');
export const IconPhotoOff = icon('photo-off');
export const IconPlayerPause = icon('player-pause');
export const IconPlayerPlay = icon('player-play');
export const IconPlayerStop = icon('player-stop');
export const IconPlayerTrackNext = icon('player-track-next');
export const IconPlugConnected = icon('plug-connected');
export const IconPlugConnectedX = icon('plug-connected-x');
export const IconPlus = icon('plus');
export const IconRefresh = icon('refresh');
export const IconRepeat = icon('repeat');
export const IconRestore = icon('restore');
export const IconRotateClockwise2 = icon('rotate-clockwise-2');
export const IconSearch = icon('search');
export const IconSearchOff = icon('search-off');
export const IconSend = icon('send');
export const IconServer2 = icon('server-2');
export const IconSettings = icon('settings');
export const IconShieldCheck = icon('shield-check');
export const IconShieldHalf = icon('shield-half');
export const IconShieldOff = icon('shield-off');
export const IconShieldQuestion = icon('shield-question');
export const IconShieldX = icon('shield-x');
export const IconSun = icon('sun');
export const IconSunMoon = icon('sun-moon');
export const IconTag = icon('tag');
export const IconTerminal2 = icon('terminal-2');
export const IconTrash = icon('trash');
export const IconUser = icon('user');
export const IconUsers = icon('users');
export const IconWebhook = icon('webhook');
export const IconWorld = icon('world');
export const IconWorldOff = icon('world-off');
export const IconX = icon('x');
