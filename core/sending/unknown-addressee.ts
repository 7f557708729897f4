import { compileLater } from '../shared/lazily.ts';
import { readHasNone } from './has-none.ts';
import { isMissed, isMissedLast, saysWhoOrWhen } from './missed-addressee.ts';
import { isMissedHost, isMissedObject } from './missed-object.ts';
import { ALTERNATIVE, isUncertain } from './uncertain-clause.ts';
import { endingWith, GAP, listWords, makeNonePattern, pattern } from './word-patterns.ts';

/** What a clause says that an unknown recipient or domain is. */
export type UnknownPart = 'recipient' | 'domain';

/**
 * Words of one language, lower case, separated by `|`, as {@link pattern} reads them. A clause with a word for the recipient or the domain and one that says that it does
 * not exist is about an unknown one, in any order: `utilisateur inconnu`, `Der Benutzer joe ist hier nicht bekannt`.
 */
interface UnknownWords {
  recipient: string;
  domain: string;
  unknown: string;
  /** says it of recipients only, and of other things beside a status of policy */
  loose?: string;
  /** says that there is none, right before the recipient: `kein solches Postfach` */
  none?: string;
  /** says that there is none, at the end of a clause about a recipient: `Používateľ joe na tomto serveri nie je` */
  noneLast?: string;
  /** says that it is not known, right before the recipient: `ne reconnaît pas cette adresse` (missed-addressee.ts) */
  missed?: string;
  /** says that a recipient is there no longer; connections and servers are closed or removed, too */
  gone?: string;
}

const LANGUAGES: readonly UnknownWords[] = [
  {
    recipient: `recipient | recipent | addressee | user | users | userid | mailbox | mail box | mail drop | mailfolder | account | address | @addr | local part |
      local-part | localpart | alias | destination | customer | subscriber | inbox | login | person | @user | receiver | rcpt~ | username | user name | nobody | no one | no-one | mr NAME | mrs NAME | ms NAME | this person | mail slot | intended person | member of staff | staff member | no box | no such box | unknown box | box unknown | box not found | box does not | box doesn't | mail-box | employee | the name | mail user | colleague`,
    domain:
      'domain | host | hostname | host name | name server | nameserver | mail exchanger | dns | system | mail server',
    missed:
      "not recognize | not recognise | cannot recognize | cannot recognise | doesn't recognize | doesn't recognise | unable to recognize | unable to recognise",
    noneLast:
      'nobody here has it | no one here has it | nobody has it | no one has it | nobody here has that | no one here has that | nobody has that | no one has that | nobody here has this | no one here has this',
    unknown: `unknown | not known | nobody here has that | no one here has that | nobody has that | no one has that | nobody here has this | no one here has this | nobody here uses | one of ours | not ours | nor ever has | has this address | has that address | uses this address | have this address | is no more | cannot be found | cannot be located | never had an account | never had a mailbox | never had an address | came up empty | not be matched | no match | couldn't match | could not match @addr | @addr you used is out of date | address you used is out of date | could not match the recipient | could not match this recipient | could not match the user | could not match the address | could not match this address | could not match any user | could not match any account | could not match any mailbox | unable to match @addr | unable to match the recipient | unable to match this recipient | unable to match the user | unable to match the address | unable to match this address | unable to match any user | unable to match any account | unable to match any mailbox | cannot match | account matches | mailbox matches | user matches | recipient matches | is not in use | not in use at | not registered | no record of | no records of | have no account | has no account | no account with | not set up | wasn't set up |
      not been set up | never set up | never created | not been created | isn't created | ceased to exist | ceases to exist | match our records | matches our records | nothing by that name | no redirect entry | service mapped | incorrectly spelled | spelled wrong | mis-spelled | does not appear in | not appear to be registered | not appear to exist | not seem to exist | doesn't appear to exist | doesn't seem to exist | doesn't appear in | no active account | no active mailbox | nobody called | nobody named | no person called | no person named | couldn't be matched | by the name of | did not find | didn't find | wasn't provisioned | isn't configured | hasn't been created | not found | wasn't found | not be found | couldn't be found | can't be found | cannot find | can't find | could not find | couldn't find | unable to find | not exist | doesn't exist | don't exist | didn't exist | no longer exist | doesnt exist | never existed | nonexist | non-exist | non exist | invalid | not valid | no longer valid | not recognized | not recognised | unrecognized | no such | illegal | not listed | no longer listed | not in the directory | not in directory | no dns entries | no mail servers appear | nxdomain | unresolvable | there is no | there's no | there isn't a | there isn't any | there's nobody | there's no one | found nothing | not resolved in | not be resolved in | there is nobody with | there is nobody by | there is nobody here | there is nobody at | there is nobody called | there is nobody named | there is nobody of | there is nobody under | there are no | there is none | does not have a | doesn't have a | doesn't have an | not our | not registered | has no mx | no mx or a | no mx records | no one with | not be located | not located | could not locate | cannot locate | unable to locate | not a local | no local | no longer in service | not in service | unrecognised | cannot resolve | unable to resolve | no matching | no results for | no result for | returned no results | returned no result | returned no match | returned nothing | not associated with | not tied to | not linked to | not mapped to | no longer has an | no longer has a | obsolete | bogus | not on file | not in our | not in my | have no customer | have no user | have no mailbox | have no recipient | no longer a valid | is void | undefined recipient | undefined user | nowhere to go | not in the database | not in database | not a registered | not a known | not a recognized | not a recognised | unexisting | inexistent | no valid recipient | no valid mailbox | no valid user | no valid account | no valid address | no valid e-mail | no valid email | no valid mail | no valid alias | no valid destination | no valid delivery | no valid login | no valid inbox | no valid entry | no valid domain | no valid mx | no valid host | no valid name | no valid person | no valid local | unregistered | not correspond | not belong to this | not belong to our | not belong to us | doesn't belong to this | doesn't belong to our | doesn't belong to us | no mail server | no mailserver | no mail exchanger | badly formatted | no longer in use | no longer used | been decommissioned | been discontinued | not used | no existing | unassigned | not assigned | not on this system | not on this server | not on our | not at this domain | not allocated | not provisioned | doesn't have any | don't have a | do not have a | does not have any | doesn't have an account | in the valid recipient | in valid recipient | in the list of valid | in our list of | have never had | never had a | not handled by | not hosted | not served | not handle mail | don't handle mail |
      doesn't handle mail | n'exist | not user of | does not correspond | not match any | doesn't match any | does not match any |
      matches no | not existing | not-existing | misspelled | mistyped | not reachable at this |
      unable to verify | goes by that name | by that name | of that name | by this name | of this name | no recipient like | no recipient called | no recipient by | not a valid | not a recipient | not a mailbox | not an account | not a user of | not a user on | not a user at | not a user here |
      no box for | no inbox for | no mailbox for | no entry in | didn't know the | doesn't know the | does not know the | did not know the | don't know the | do not know the | do not know any | know nothing of | know of no | not one of our | not among our | not part of our`,
    loose: `appears to be a typo | seems to be a typo | never heard of | never been such | never been any | never been here | never been a | never been an | never been employed | long gone | left us | moved on from | retired from | stopped working | been withdrawn | been dissolved`,
    gone: `permanently closed | closed permanently | account was shut down | account has been shut down | mailbox was shut down | mailbox has been shut down | terminated | account removed | mailbox removed | user removed | address removed | account deleted | mailbox deleted | account erased | deceased | passed away | has died | was abolished | been abolished | cancelled the account | canceled the account | account was cancelled | account was canceled | account has been cancelled | account has been canceled | offboarded | off-boarded | deprovisioned | made redundant | no longer on staff | no longer on the staff | no longer on our staff | no longer on the team | no longer employs | vacated | since left | longer among | left our | left this company | left the company | left the firm | left the organi | left the school | left the university | is not employed | not employed | no longer employed | no longer active at | not a customer | not a subscriber | not a member of our | not a member of this company | not a member of this organi | not a member of the company | not a member of the organi | not a member of the staff | not a member of staff | not a member of the team | been deleted | was deleted | been removed | been closed |
      is closed | no longer an employee | no longer employed | no longer works | no longer with | no longer at | no longer part of |
      been retired | is retired | was retired | has left the | has departed | have departed | departed the | no longer employs |
      has resigned | was terminated | been terminated | been erased | was erased | purged | was removed | was closed | been abandoned`,
  },
  {
    recipient:
      '~empfänger | ~empfaenger | ~anschrift | ~kunde | mitglied | mailkonto | ~adressat | teilnehmerin | sachbearbeiter | ~mailadresse | ~benutzer | ~nutzer | adressat | ~adresse | ~postfach | ~mailbox | teilnehmer | ~konto | ~mitarbeiter | ansprechpartner | kollege | kollegin | person | kunde | herr NAME | herrn NAME | frau NAME | niemand | person | empfängerin | @addr',
    domain: '~domain | ~domäne | ~domaene | ~rechner | hostname | host | server',
    none: 'kein~ | keinerlei',
    noneLast: 'gehört niemandem | niemandem gehört',
    unknown: `nicht mehr existiert | nicht existiert | nicht mehr existieren | kennt keine~ | kennen keine~ | solche~ ... kennt | solche~ ... kennen | unbekannt | niemand erreichbar | niemand zu erreichen | niemand diese~ | niemand hat diese~ | nicht geführt | dieses namens haben wir nicht | mit diesem namen haben wir nicht | dieses namens führen | führen wir nicht | kennen wir hier nicht | nicht in unserem verzeichnis | nicht in unserem system | nicht in unserer datenbank | nicht in unserer verwaltung | nicht in verwendung | nicht in gebrauch | nicht existent | kein eintrag | keinen eintrag | nicht im verzeichnis | nicht im system | nicht hinterlegt | falsch geschrieben | schreibfehler | tippfehler | keinen solchen | niemand mit | niemand namens   | stimmt nicht | kein nutzer | keinen nutzer |
      kein mailserver | keinen mailserver | nicht mehr verfügbar | nicht mehr verfuegbar | existiert nicht | existiert ... nicht | existieren ... nicht |
      existieren nicht | nicht existier | nicht vorhanden | nicht gefunden | nicht bekannt | ungültig | ungueltig |
      nicht ... aufgeführt | nicht ... aufgelistet | nicht ... enthalten | nicht verzeichnet | nicht eingerichtet | gibt es nicht | gibt es ... nicht | keine mailbox | kein mailkonto | nicht auf diesem | keinen benutzer |
      kein benutzer | kein postfach | kein konto | keine adresse | nicht mehr gültig | nicht mehr vorhanden | nicht ermittelt |
      nicht erkannt | nicht mehr in gebrauch | nicht mehr genutzt | nicht mehr verwendet | nicht mehr in verwendung |
      nicht mehr benutzt | nicht mehr existent | nicht mehr erreichbar unter | nicht zugeordnet | nicht angelegt | kein solcher |
      keine solche | kein teilnehmer | kein empfänger | nicht ... registriert | nicht ... bekannt | niemanden gibt | gibt ... niemanden | gibt ... nicht | nicht zu finden | nicht gibt | nicht mehr gibt | nicht auffindbar | nicht ermittelbar | nicht aufzufinden | nicht ... kennt | keine ... bekannt | nie gegeben | nicht belegt | nicht vergeben`,
    gone: `gelöscht | geschlossen | verstorben | pensioniert | in pension | betrieb verlassen | verein verlassen | hochschule verlassen | universität verlassen | nicht mehr angestellt | nicht mehr hier | nicht mehr an bord | kennen wir nicht | arbeitet nicht mehr | unternehmen verlassen | firma verlassen | haus verlassen | nicht länger | außer dienst | in rente | im ruhestand | ausgetreten | weggezogen | erloschen | gekündigt | abgemeldet | gekuendigt | stillgelegt | ausgeschieden | nicht mehr tätig |
      nicht mehr taetig | nicht mehr im unternehmen | nicht mehr im haus | nicht mehr beschäftigt | nicht mehr bei | nicht mehr für | aufgelöst | aufgelassen | entfernt worden | wurde entfernt | abgeschaltet`,
  },
  {
    recipient:
      'destinataire | utilisateur | employé | collègue | adhérent | membre | messagerie de | interlocuteur | titulaire | adresse | boîte | boite | compte | abonné | abonne | collaborateur | correspondant | personne | salarié | client | @addr',
    domain: 'domaine | hôte | hote | serveur',
    missed:
      "ne reconnaît pas | ne connaît pas | ne trouve pas | n'a pas trouvé | n'avons pas trouvé | n'a pas pu trouver | n'avons pas pu trouver",
    none: "aucun | aucune | pas de | n'y a pas d' | ni de",
    unknown: `inconnu | ne connaissons | personne ici n'a cett~ | personne n'a cett~ | personne ici n'utilise cett~ | ne connaît | ne connait | ne correspond à aucun | ne figure pas | ne figure plus | mal orthographi | mal saisi | faute de frappe | n'est pas attribu | personne de ce nom | personne à ce nom | aucune adresse | aucun abonné | n'est pas répertori | n'est pas enregistr | n'existe pas | n'existe plus | introuvable | invalide | inexistant | non trouvé | pas été trouvé |
      répertorié | repertorie | impossible de trouver | erroné | n'est pas valide | n'est plus valide | n'est plus valable | n'est pas valable | pas reconnu |
      aucun utilisateur | aucun compte | aucune boîte | aucune boite | pas été trouvée | n'a pu être trouvé | pas trouvé |
      n'est plus utilisé | n'est plus en service | n'est plus présent | n'est pas présent | n'est plus utilise | n'est plus attribué | n'est plus attribue | n'existant pas |
      n'est pas connu | plus d'actualité | aucun destinataire | n'est pas inscrit | pas de compte | pas d'utilisateur | n'a jamais exist | jamais existé | n'est ... connu | n'est ... enregistré | n'est ... inscrit | n'est ... listé | n'est ... référenc | n'est ... déclaré`,
    gone: `définitivement clos | supprimé | définitivement ferm~ | definitivement ferm~ | décédé | decede | n'est plus en poste | plus en fonction | plus chez nous | pris sa retraite | radié | n'est plus salarié | n'est plus client | n'est plus abonné | compte fermé | compte clos | boîte fermée | fermé définitivement | fermée définitivement | n'est plus membre | plus parmi nous | parti de | n'est plus dans | n'est plus parmi | n'est plus employé | n'existant plus | désaffect | retraite | ne collabore plus | n'appartient plus | supprimée | résilié | resilie | clôturé | cloture | ne fait plus partie | ne fait pas partie | a quitté | a quitte | ne travaille plus | été fermé | ete ferme | été effacé`,
  },
  {
    recipient:
      'nadie con | nadie que | nadie de es~ | destinatari | usuari | dirección | emplead | persona | titular | abonad | suscriptor | trabajador | compañer | direccion | buzón | buzon | casilla | cuenta | correo inex~ | correo inv~ | correo electrónico inex~ | correo electrónico inv~ | @addr',
    domain: 'dominio | servidor | host',
    missed:
      'no reconoce | no conoce | no encuentra | no encontramos | no hemos encontrado | no se ha podido encontrar | no hemos podido encontrar | no encuentra a | no encontramos a | no hemos encontrado a | no se ha podido encontrar a | no hemos podido encontrar a',
    none: 'ningún | ninguna | no hay',
    unknown: `desconocid | nadie que se llame | no conocemos | nadie tiene es~ | nadie aquí tiene es~ | nadie usa es~ | ningún registro | ninguna cuenta | ningún buzón | mal escrit | no corresponde a ning | no hay nadie | nadie con | no existía | no existen | no aparece | no está dad | no consta | no está listad | no existe | no se encontró | no se encontro | no se ha encontrado | no se encuentra | no encontrad |
      no se pudo encontrar | no válido | no válida | no válidos | no válidas | no es válid | inválid | invalid | inexistente | no está registrad | no figura |
      no localizad | no pudo localizar | no hay ningún | no hay un usuario | ya no existe | no reconoc | erróne | ya no está en uso | ya no se usa |
      ningún usuario | ningun usuario | no hay usuario | sin buzón | no se localiz | no tiene cuenta | no ... registrad | no ... conocid | nunca ... exist | no ... dado de alta`,
    gone: `se cerró | eliminad | ya no labora | fallecid | falleció | se jubiló | dado de baja | ha causado baja | causó baja | ya no es emplead | ya no es miembro | desvinculad | renunció | disuelt | dejó la empresa | dejó de trabajar | ha dejado | no forma parte | ya no forma | jubilad | extinguid | desactivado definitivamente | dada de baja | dado de baja | borrad | cerrad | ya no trabaja | no pertenece | ya no está | cancelad | suprimid`,
  },
  {
    recipient:
      'nessuno con | destinatari | destin. | utente | collega | collaborator | dipendent | persona | abbonat | nominativ | titolare | indirizzo | casella | mailbox | account | @addr',
    domain: 'dominio | host | server',
    missed: 'non riconosce | non conosce | non trova | non abbiamo trovato | non ha trovato',
    none: "nessun | nessuna | non c'è alcun | alcun",
    unknown: `non c'è più | introvabil | non è iscritt | sconosciut | non conosciamo | nessuno ha quest | nessuno qui ha quest | nessuno usa quest | nessun indirizzo | nessuna persona | nessuno con | non corrisponde a nessun | scritto male | digitato male | non figura | non compare | non esistono | non è censit | non presente | non e' censit | inesistente | inesistenti | non esiste | non trovat | non è stato trovato | non e' stato trovato |
      impossibile trovare | non valid | errato | non è presente | non riconosciut | non è elencat | non elencat | non e' elencat | non risulta |
      non è registrat | nessun utente | nessuna casella | non più valid | non e' stata trovata | non è stata trovata |
      non più in uso | non più utilizzat | non più esistent | nessun destinatario | nessun account | non ... registrat | non ... conosciut | mai esistit | mai ... esistit`,
    gone: `disdett | decedut | pensionat | si è dimess | licenziat | disattivata definitivamente | non è più in servizio | non e' più in servizio | non è più alle | non fa più parte | ha lasciato | non lavora piu | non è più dipendente | in pensione | eliminat | dismess | cancellat | chius | non lavora più | cessat | rimoss | soppress`,
  },
  {
    recipient:
      'ninguém com | nenhuma conta | conta com | destinatári | destinatari | pessoa | titular | assinante | empregad | colega | utilizador | usuári | usuari | endereço | endereco | caixa | colaborador | funcionári | a conta | da conta | esta conta | conta @addr | conta não | conta nao | conta de | conta inv~ | conta inex~ | e-mail inex~ | e-mail inv~ | email inex~ | email inv~ | conta cancel~ | conta encerr~ | conta exclu~ | conta remov~ | conta apag~ | conta elimin~ | conta desc~ | @addr',
    domain: 'domínio | dominio | servidor | host',
    missed:
      'não reconhece | não conhece | não encontra | não encontramos | não encontrou | não conseguimos encontrar | não conseguiu encontrar',
    none: 'nenhum | nenhuma | não há',
    unknown: `não está registad | não está registrad | desconhecid | não conhecemos | ninguém aqui tem ess~ | ninguém aqui tem est~ | ninguém tem ess~ | ninguém tem est~ | nenhum registro | nenhum registo | escrito incorretamente | digitado incorretamente | não corresponde a nenhum | ninguém com | não há ninguém | não figura | não existem | não existia | não existe | nao existe | não encontrad | nao encontrad | não foi encontrad | nao foi encontrad |
      não foi possível encontrar | não localizad | nao localizad | inválid | invalid | inexistente | não está listad | não listad |
      nao esta listad | não consta | não cadastrad | nao cadastrad | não pôde ser encontrad | não foi localizad | não reconhecid | nenhum usuário | não temos nenhum | não há nenhum | não há caixa | não há usuário | não há conta |
      não está mais em uso | não é válid | nao e valid | nenhum usuário | nenhuma conta | não ... registrad | não ... cadastrad | não ... conhecid | nunca exist | nunca ... exist`,
    gone: `fechada definitivamente | fechado definitivamente | definitivamente fechad~ | excluíd | falecid | faleceu | se aposentou | reformou-se | desativada definitivamente | não é mais funcionári | já não é funcionári | deixou a empresa | saiu da empresa | não faz mais parte | não integra mais | desligad | aposentad | extint | excluid | removid | apagad | cancelad | encerrad | já não trabalha | não trabalha mais | nao trabalha mais | eliminad | não pertence mais`,
  },
  {
    recipient:
      'niemand met | geadresseerde | postbus | postbox | brievenbus | collega | persoon | bestemmeling | mailadres | klant  | ~medewerker | ~account | ~gebruiker | ~adres | ~postvak | ontvanger | mailbox | @addr',
    domain: 'domein | host | server',
    none: 'geen',
    unknown: `niet meer bestaat | niet langer bestaat | kennen niemand | kent geen | onbekend | verkeerd gespeld | spelfout | typfout | komt niet voor | geen adres | geen account | geen persoon | niemand met    | nooit bestaan | bestaat hier niet |
      bestaat niet | bestaan niet | niet bestaat | niet bestaan | niet voorkomt | niet is gevonden | kennen wij niet | kennen we niet | niet in ons systeem | niet in onze administratie | niet in ons bestand | niet gevonden | ongeldig | kan niet worden gevonden |
      kon niet worden gevonden | niet bekend | niet vinden | bestaat niet meer | niet aanwezig | niet herkend | niet geldig |
      geen gebruiker | geen postvak | niet opgenomen | niet vermeld | niet meer in gebruik | niet meer gebruikt |
      niet langer in gebruik | bestaande gebruiker | geen mailbox | niemand hier heeft dit | niemand heeft dit | is hier niemand | er is niemand | is niemand bekend | niemand bekend | nooit ... bestaan | niet ... bekend | niet ... geregistreerd | niet ... bestaan`,
    gone: `voorgoed gesloten | definitief gesloten | niet meer in dienst | overleden | niet meer werkzaam | niet langer werkzaam | ontslag | opgeheven | bestaat niet langer | niet langer bij | uit dienst | heeft ons verlaten | verlaten | werkt niet meer | werkt hier niet | met pensioen | niet meer werkzaam | verwijderd | opgeheven | opgezegd | afgesloten`,
  },
  {
    recipient: `~modtager | ~mottaker | indbakke | innboks | inkorg | postlåd | mottagaradress | modtageradresse | medlem | ansat~ | ansatt~ | ~bruger | ~bruker | ~adress | ~postkasse | ~postboks | ~konto | ~mottagar | ~användar | ~brevlåd |
      ~mailboks | ~mailbox | ~kunde | medarbejder | medarbeider | medarbetare | e-post | epost | ~person | ~kollega | ~kollegaen | ingen her | ingen med | ingen ved | ingen som | ingen heter | ingen hedder | @addr`,
    domain: 'domæne | domene | domän | værtsnavn | värd | host | server',
    none: 'ingen | inget | intet | inga',
    noneLast: 'finns inte | findes ikke | finnes ikke',
    unknown: `ukendt | ingen här har den | ingen har den här | ingen her har den | ingen har denne | känner inte till | känner vi inte | kender vi ikke | kender ikke nogen | kjenner ikke til | kjenner vi ikke | kjenner ingen | känner ingen | stavet forkert | felstava | feilstavet | slåfejl | skrivefeil | tastefejl | ikke oprettet | ikke opprettet | inte upplag | inte kopplad | ikke tilknyttet | ikke knyttet til | ingen konto | intet konto | inget konto | ingen postkasse | ingen brevlåda | aldrig ... funnits | aldrig ... eksisteret | aldri ... eksistert | hører ikke hjemme | ingen person | ukjent | okänd | findes ikke | finnes ikke | finns inte | ikke findes | ikke finnes | inte finns | inte existerar | ikke eksisterer | ikke fundet | ikke funnet | hittades inte |
      inte hitta | inte att hitta | ikke finde | ikke finne | finner ikke | ugyldig | ogiltig | eksisterer ikke | existerar inte |
      kunne ikke findes | saknas | ved det navn | med det navn | med det namnet | av det navnet | ingen bruger | ingen bruker | ingen användare | ingen mottagare | ingen modtager | ingen mottaker | finns ej | findes ej | finnes ej | inte ... registrera | ikke ... registre | ikke ... kjent | ikke ... kendt | inte ... känd~ | ikke registreret | ikke registrert | inte registrerad | känns inte igen | ikke gjenkjent | ikke genkendt | ikke længere | ikke lenger | inte längre`,
    gone: `slettet | nedlagt | lämnat oss | lämnat företaget | lämnat skolan | forladt virksomheden | forlatt bedriften | ikke længere ansat | ikke lenger ansatt | inte längre anställ | afgået ved døden | avliden | avled | død~ | gået på pension | pensjonert | deaktiveret permanent | lagts ner | lagt ned | nedlag | lukket | avsluttet | afsluttet | stengt | tagits bort | borttag | raderad | raderat | avslutad |
      avslutat | upphört | upphörd | fjernet | opsagt | oppsagt | har sluttet | har slutat | slutat hos | sluttet hos | arbetar inte | arbejder ikke | jobber ikke | jobbar inte | gått i pension | gået på pension`,
  },
  {
    recipient:
      '~vastaanottaj | ~käyttäj | ~postilaatikkoa | ~laatikko | ~laatikkoa | ~osoitteella | ~tilillä | työntekij | henkilö | asiakas | ~jäsen | ~osoite | ~osoitetta | ~postilaatik | ~tili~ | ~tiliä | henkilö | työntekijä | @addr',
    domain: 'toimialue | verkkotunnus | palvelin',
    none: 'ei ole | ei löytynyt',
    noneLast: 'ei ole | ei ole olemassa',
    unknown: `tuntematon | emme tunne | väärä osoite | kirjoitusvirhe | ei ole tunnettu | ei tunnisteta | ei sellaista | tällaista ... ei ole | ei ole sellaista | ei ole tällaista | ei ole rekister | ei kuulu | väärin kirjoitet | ei ole osoitetta | ei ole käyttäjää | ei ole olemassa | ~laatikkoa ei ole | ~käyttäjää ei ole | ~osoitetta ei ole | ei löyty | ei löydy | virheelli | ei tunneta | ei voitu löytää | ei ole enää | ei kelpaa | ei enää | ei ... rekisteröi | ei ... tunneta | ei ole käytössä`,
    gone: `poistettu | kuollut | eronnut | irtisanou | ei ole enää | suljettu | lakkautettu | ei työskentele | lähtenyt | eläkkeel`,
  },
  {
    recipient:
      'adresat | odbiorc | skrzynek | kolega | koleżank | pracowni | adresu | użytkownik | uzytkownik | konto | konta | adres | skrzynk | pracownik | abonent | osob~ | pan NAME | pani NAME | nikt | nikogo | @addr',
    domain: 'domena | domeny | host | serwer',
    missed: 'nie rozpoznaje | nie rozpoznał | nie zna | nie znajduje | nie znalazł',
    none: 'nie ma | brak | żaden | żadnego',
    noneLast: 'nie ma',
    unknown: `nieznan | nie znamy | nie ma w naszym | nie ma w naszej | nie ma u nas | nie ma w systemie | błędny adres | nie istnieje | nie istnieją | literówk | błędnie wpisan | źle wpisan | brak konta | brak skrzynki | brak użytkownika | brak uzytkownika | nie posiada konta | nie ma adresu | nie ma osoby | nie zarejestrowan | nie został ... zarejestrowan | nie należy | nie ma w bazie | nie ma w systemie | nie znaleziono | nie zostało znalezione | nie została znaleziona | nie został znalezion | nie zostal znalezion | nie można odnaleźć |
      nie można znaleźć | nieprawidłow | niepoprawn | nie odnaleziono | brak takie | nie ma takie | nie został odnalezion |
      nie udało się odnaleźć | nie udało się znaleźć | nie figuruje | nie jest już | nie jest powiązan | nie jest przypisan | nie ma konta | nie ma skrzynki |
      nie ma uzytkownika | nie ma użytkownika | nie jest znan~ | nie jest używan | nikogo nie ma | nikogo takiego | nikt taki | nikogo o t~ | nie zna | nie znamy | nie ... znan~ | nie ... zarejestrowan | nigdy nie istnia | nikt o t~ | nie ma nikogo`,
    gone: `usunięt | zmarł | nie żyje | przeszedł na | przeszła na | nie jest już pracownik | nie jest już członk | opuścił | rozwiązan | wygasł | wyrejestrowan | zlikwidowano | zamknięto | usunięto | już nie pracuje | odszedł | odeszła | zwolnion | na emeryturz | usuniet | zlikwidowan | skasowan | zamknięt | zamkniet | nie pracuje`,
  },
  {
    recipient:
      'příjemc | príjemc | prijemc | adresát | osob~ | kolegyn | pracovn | člen~ | schránku | adres | uživatel | uzivatel | používateľ | pouzivatel | schránk | schrank | účet | ucet | osoba | osobu | zaměstnan | zamestnan | kolega | nikdo | nikoho | @addr',
    domain: 'doména | domena | hostitel | server',
    none: 'není | nie je | žádný | žádná | žádné | žiadny | žiadna | nemáme',
    noneLast: 'není | nie je | tu není | tu nie je',
    unknown: `neexistuj | nikdo nemá | nikto nemá | není v našem | není v naší | není u nás | není v systému | nie je v našom | nie je u nás | nesprávná adres | nesprávna adres | neznám | nenašel | nenašla | nenašl | nenasel | není zřízen | nebyla zřízena | nemá účet | nemá u nás | překlep | preklep | chybně zadan | neevidujeme | není veden | nie je zriaden | takový ... není | taková ... není | taký ... nie je | není zde | tu není | neznam | nenalezen | nebyla nalezena | nebyl nalezen | nelze najít | nelze najit | neplatn |
      nenájden | nebola nájdená | nepodarilo nájsť | nebylo nalezeno | není platn | není přiřazen | nie je priraden | nepodařilo se najít | sa nenašl | nenašiel |
      není známá | není znám~ | nemá schránku | nikoho takového | nikdo takový | nikdo s tímto | není nikdo | není ... registrov | není ... znám~ | nie je ... registrov | nikdy neexist`,
    gone: `zrušen | zemřel | zomrel | deaktivována trvale | propuštěn | v důchodu | na dôchodku | nepracuje | zrusen | smazán | smazan | vymazan | odstráněn | již nepracuje | už nepracuje | uz nepracuje | zanikl | odešel | odešla | odišiel | opustil`,
  },
  {
    recipient:
      'címzett | felhasználó | ügyfél | fiók~ | dolgozó  | címmel | postafiók | ~címe | ~címet | ~címen | ~címre | munkatárs | kolléga | személy | @addr',
    domain: 'tartomány | kiszolgáló',
    none: 'nincs | nincsen | semmilyen',
    noneLast: 'nincs | nincsen',
    unknown: `ismeretlen | nem ismerjük | nincs nálunk | nincs a rendszer | helytelen cím | hibás cím | nem létezik | elírás | elgépel | hibásan ... írt | nem szerepel | nincs nálunk | nincs fiók | nincs hozzárendel | nincs felhasználó | nem tartozik | nincsen ilyen | nem létező | nem található | érvénytelen | nem találtuk | nincs ilyen | ilyen ... nincs | senki nincs | nincs senki | nincs ... regisztrál | nem ... ismert | nem ... regisztrál | nem ismert | nem találja | már nem létezik | már nem él`,
    gone: `megszűnt | elhunyt | nyugdíjba | már nem munkatárs | már nem a cég | felmondott | törölt | törölve | megszüntet | már nem dolgozik | nem dolgozik nálunk | távozott | elhagyta | kilépett | nyugdíj`,
  },
  {
    recipient:
      'destinatar | utilizator | cutie poștală | cutia poștală | membru | salariat | adres | căsuț | casut | contul | persoan | angajat | coleg | nimeni | @addr',
    domain: 'domeniu | gazda',
    none: 'niciun | nicio | nu avem',
    noneLast: 'nu există',
    unknown: `necunoscut | nu cunoaștem | nu figurează | greșit scris | scrisă greșit | scris greșit | nu corespunde | nicio persoană | niciun utilizator | niciun cont | nu are cont | nu se găsește | nu există | nu există | nu exista | nu a fost găsit | inexistent | nu este valid | nu s-a găsit |
      nu a putut fi găsit | nu au fost găsi~ | nu poate fi găsit | invalid | nu mai există | nu mai exista | nu mai este | nu ... înregistrat | nu ... cunoscut | nu a existat`,
    gone: `șters | desființat | desfiinţat | decedat | nu mai este angajat | nu mai face parte | a demisionat | ștearsă | dezactivat definitiv | suspendat definitiv | sters | închis | inchis | nu mai lucrează | a plecat | a părăsit | pensionat`,
  },
  {
    recipient: `получател | адрес | кутия | пощенска | клієнт | сотрудниц | работни | почтовую | ящика | обліков | скриньц | поштов | пользовател | почтового ящика | почтовый ящик | ящик~ | абонент | учетн | учётн | одержувач | отримувач |
      користувач | скриньк | потребител | сотрудник | аккаунт | акаунт | клиент | работник | человек | коллега | співробітник | працівник | служител | никого | @addr`,
    domain: 'домен | хост~ | сервер',
    missed:
      'не знает | не распознаёт | не распознает | не распознал | не узнаёт | не нашёл | не нашел | не находит | не знає | не розпізна',
    none: 'нет | немає | нема | няма | ни одного | никакого | жодного',
    noneLast: 'нет | немає | нема | няма',
    unknown: `неизвест | нет в нашей | нет в нашем | нет в системе | нет у нас | нет среди | немає в нашій | немає у нашій | немає в системі | няма в нашата | няма при нас | не знаємо | не познаваме | опечатк | неверно указан | неправильно указан | неверный адрес | неверное имя | неправильное имя | не обслуживает | неправильный адрес | не принадлежит | не заведён | не создан | не имеется | никому не | помилк | неправильн | не зареєстрован | не числиться | такого ... не існує | такої ... не існує | няма такъв | няма такава | не е регистриран | грешно изписан | непознат | такога | не існуе | не знойдзен | невядом | не существует | не найден | не удалось найти | не удается найти | не удаётся найти | не обнаружен |
      не найти | нет на сервере | нет такого | такого ... нет | такой ... нет | такая ... нет | такого почтового ящика нет | недействит | не зарегистрирован | не привязан | не связан с | несуществующ |
      невідом | не існує | не знайден | немає | не съществува | не е намерен | не беше намерен | да бъде намерен |
      не вдалося знайти | не знайдено | не значится | такого ящика нет | больше не | отсутствует | никого нет | никого с таким | не знаем | не числится | не ... зарегистрирован | никогда не существова | не ... зареєстрован | не заведен | не заведён |
      більше не | відсутн`,
    gone: `удален | умер~ | скончал | ушёл из | ушел из | ушла из | выбыл | больше не числится | упразднен | упразднён | помер | починал | пенсионира | закрит | удалён | закрыт | уже не работает | больше не работает | покинул | уволился | на пенсии | не працює | звільнен | напусна | не работи | уволен | ликвидирован | видален | закрит | изтрит | закрита`,
  },
  {
    recipient:
      'bu isimde | alıcı | kullanıcı | üye~ | müşteri | posta kutusu | hesab | kişi | adres | posta kutusu | hesap | hesab | kişi~ | çalışan | personel | @addr',
    domain: 'etki alanı | alan adı~ | sunucu',
    noneLast: 'yok | yoktur | bulunmuyor',
    unknown: `tanımıyor | bulamadık | bulamıyor | kimse yok | kayıtlı değil | bilinmeyen | tanımıyoruz | sistemde yok | sistemimizde yok | bizde yok | böyle bir | yanlış yazıl | hatalı adres | hatalı yazıl | kayıtlı bir | rastlanmadı | rastlanamadı | ait değil | var olmayan | var değil | artık yok | artık bulunm | bulunamadı | mevcut değil | geçersiz | bulunmuyor | bulunamıyor | kullanıcı yok~ | adres yok~ | hesap yok~ |
      bilinmiyor | tanınmıyor | artık kullanılm | kayıtlı değil | tanımlı değil | bulunmamakta | kaydı bulunma`,
    gone: `kapatıl | vefat | işten ayrıl | silindi | kapatil | silin | kaldırıl | ayrılmış | ayrıldı | artık çalışm | emekli | görevinden`,
  },
  {
    recipient:
      'παραλήπτ | χρήστ | υπάλληλ | πελάτη | εργαζόμεν | θυρίδ | διεύθυνσ | λογαριασμ | γραμματοκιβώτι | @addr',
    domain: 'τομέα | κεντρικός υπολογιστής',
    none: 'κανένας | καμία | κανέναν | δεν υπάρχει',
    unknown: `άγνωστ | δεν γνωρίζουμε | δεν υπάρχει πλέον | δεν υπάρχουν | δεν είναι γνωστ | δεν είναι έγκυρ | δεν είναι καταχωρ | λανθασμέν | ορθογραφικ | ανύπαρκτ | κανένας με | δεν αντιστοιχεί | δεν έχει λογαριασμό | δεν υφίσταται | δεν υπάρχει | δεν βρέθηκε | δεν ήταν δυνατή η εύρεση | δεν εντοπίστηκε | μη έγκυρ | δεν αναγνωρίζεται |
      δεν χρησιμοποιείται πλέον`,
    gone: `διαγραφεί | έχει διαγραφ | δεν εργάζεται | αποχώρησε | έχει αποχωρήσει | συνταξιοδοτ | απεβίωσε | καταργήθηκε | διαγράφηκε | έχει κλείσει | καταργηθεί`,
  },
  {
    recipient:
      'נמען | משתמש | כתובת | תיבת | תיבה | חשבון | עובד | مستلم | مستقبل | حساب | الموظف | المرسل إليه | المتلقي | مستخدم | عنوان | صندوق | @addr',
    domain: 'דומיין | תחום | نطاق | مجال',
    none: 'אין | לא קיים | لا يوجد | لا توجد | ليس هناك | ليس لدينا',
    unknown: `לא נמצא | تم حذف الحساب | تم حذف حساب | تم حذف العنوان | אין משתמש | אין כתובת | אין תיבה | אין תיבת | אין נמען | אין אצלנו | אינו רשום | אינה רשומה | אינו מוכר | אינה מוכרת | לא רשום | לא רשומה | שגוי | שגויה | כזה בשרת | כזאת בשרת | נמחק | עזב את | עזבה את | אינו עובד | לא עובד עוד | ليس مسجل | غير مسجل | لم يعد موجود | لا توجد | ليس لدينا | ليس موجود | خاطئ | غير صحيح | مجهول | ترك العمل | لم يعد يعمل | غادر | לא קיים | לא קיימת | לא ידוע | אינו קיים | אינה קיימת | غير معروف | غير موجود | لم يتم العثور | غير صالح |
      لا يوجد | تعذر العثور`,
  },
  {
    recipient: `primatelj | primalac | primaoc | prejemnik | korisnik | uporabnik | adres | naslov | sandučić | nabiralnik | račun | nalog | прималац |
      примач | корисник | адрес | @addr`,
    domain: 'domena | domene | domen | poslužitelj | strežnik | домен',
    none: 'nema | ne postoji | nemamo | нема | не постоји',
    noneLast: 'nema | нема | ni~',
    unknown: `nije pronađen | ne postoje | pogrešno napisan | pogrešno upisan | krivo napisan | krivo upisan | napačno | nema takv | nema korisnika | ni takega | ni uporabnika | nije registrir | nije registrov | ni registriran | nismo pronašli | nismo našli | ne pripada | тог корисника нема | нема таков | нема таква | не е регистриран | није регистрован | obrisan | izbrisan | ukinut | ukinjen | više ne radi | ne radi više | ne dela več | napustio | napustila | zapustil | избрисан | укинут | nije pronadjen | nije nađen | nepoznat | neznan | ne postoji | ne obstaja | ni bilo mogoče najti |
      ni mogoče najti | ni najden | nije moguće pronaći | nevažeć | neveljav | neispravn | није пронађен | не постоји |
      не е пронајден | непознат`,
  },
  {
    recipient: `gavėj | adres | ~adres | darbuotoj | darbiniek | töötaja | vartotoj | naudotoj | dėžut | paskyr | saņēmēj | lietotāj | pastkast | adressaa | ~aadress | kasutaja | postkast |
      konto | kont~ | @addr`,
    domain: 'domen | domēn | ~domeen | serveris | server',
    none: 'nėra | nav | pole | ei ole',
    noneLast: 'nėra | nav | pole | ei ole | ei ole olemas',
    unknown: `nerast | ei ole ... olemas | pole ... olemas | nėra tokio | nėra tokios | neužregistruot | nebeegzistuoja | ištrint | panaikint | nebedirba | nav reģistrēt | nav tāda | nav tādas | vairs neeksistē | dzēst | vairs nestrādā | pole registreeritud | sellist ... ei ole | sellist ... pole | ei ole olemas | enam ei ole | kustutatud | ei tööta enam | nepavyko rasti | neegzistuoja | nežinom | neteising | negaliojan | netika atrast | nav atrast | neeksistē |
      nezinām | nederīg | ei leitud | ei leia | tundmatu | ei eksisteeri | pole olemas | kehtetu`,
  },
  {
    recipient:
      'destinatari | adreça | usuari | bústia | compte | netfang | viðtakand | notand | pósthólf | adresa | përdorues | @addr',
    domain: 'domini | lén~ | domen',
    none: 'cap | no hi ha | ekkert | enginn | engin | engan | nuk ka | asnjë',
    noneLast: 'er ekki til | nuk ka',
    unknown: `no existeix | adreça incorrecta | adreça és incorrecta | ekki lengur til | ekki lengur í notkun | starfar ekki | inexistent | no està registrad | no figura | ja no existeix | ja no és actiu | ja no és activ | donat de baixa | donada de baixa | eliminat | ha deixat | ja no treballa | ekki skráð | finnst ekki | i panjohur | nuk është regjistruar | nuk është i vlefshëm | u fshi | nuk punon më | desconegu | no s'ha trobat | no s'ha pogut trobar | no és vàlid | fannst ekki | er ekki til | óþekkt |
      nuk u gjet | nuk ekziston`,
  },
  {
    recipient: 'گیرنده | کاربر | آدرس | نشانی | صندوق | पता | पते | प्राप्तकर्ता | उपयोगकर्ता | मेलबॉक्स | @addr',
    domain: 'دامنه | डोमेन',
    none: 'هیچ | कोई | ऐसा कोई',
    unknown: `یافت نشد | ऐसा कोई | खाता बंद | ثبت نشده | اشتباه است | نادرست | حذف شده | دیگر وجود | همکاری ندارد | पंजीकृत नहीं | ग़लत | गलत | हटा दिया | अब काम नहीं | پیدا نشد | وجود ندارد | نامعتبر | ناشناس | नहीं मिला | नहीं मिल | मौजूद नहीं | अमान्य | अज्ञात`,
  },
  {
    recipient:
      '收件人 | 收件者 | 名字的人 | 用户 | 用戶 | 地址 | 邮箱 | 信箱 | 帐号 | 账号 | 帳號 | 使用者 | 账户 | 帐户 | 帳戶 | 郵箱 | 收信人 | 员工 | 員工 | 同事 | 同仁 | 职员 | 職員 | 人员 | 人員 | @addr',
    domain: '域名 | 網域 | 域 | 主机',
    missed: '不认识 | 不認識 | 不认得 | 未能找到 | 没能找到 | 没找到 | 无法识别 | 無法識別 | 不能识别',
    none: '没有 | 沒有 | 并无 | 並無 | 查无 | 查無 | 无此 | 無此',
    noneLast: '没有 | 沒有 | 不在',
    unknown: `已经没有 | 已經沒有 | 没有登记 | 沒有登記 | 没有叫 | 沒有叫 | 不存在 | 不在本 | 不在该 | 不在系统 | 不在此 | 不认识 | 不在我们 | 未开通 | 未開通 | 没有开通 | 未激活 | 未创建 | 未找着 | 拼写错误 | 有误 | 有誤 | 不属于 | 不屬於 | 没有该 | 沒有該 | 没有您 | 非本 | 找不到 | 不是有效 | 未註冊 | 未注册 | 无法找到 | 無法找到 | 未找到 | 未知 | 无效 | 無效 | 没有这个 | 查无 | 不正确 | 没有找到 | 没有注册 | 未关联 | 没有关联 | 未绑定 | 未登记 | 查無 | 没有此 | 沒有此 | 無此 | 无此 |
      不正確 | 错误 | 錯誤`,
    gone: `永久关闭 | 永久關閉 | 辞职 | 去世 | 已离开 | 已離開 | 不在本公司 | 不在我司 | 调离 | 調離 | 离任 | 離任 | 销户 | 銷戶 | 辭職 | 退休 | 已不在 | 不再任职 | 不再任職 | 已注销 | 已註銷 | 离职 | 離職 | 已删除 | 已刪除 | 已被删除 | 已被刪除 | 已关闭 | 已關閉 | 已撤销 | 注销 | 註銷`,
  },
  {
    recipient:
      '利用者 | 名前の者 | 宛先 | あて先 | 受取人 | 送信先 | ユーザ | 受信者 | アドレス | メールボックス | アカウント | ディレクトリ | 担当者 | 社員 | 職員 | 担当の者 | @addr',
    domain: 'ドメイン | ホスト',
    noneLast: 'ありません | いません | おりません | ございません',
    unknown: `存在しま | 存じません | 現在使われて | 登録されてお | 使用されてお | ご使用いただけ | 者はおりません | 者はいません | はございません | 存在いた | 見当たり | 該当者 | 該当がござい | 該当がありま | 間違 | 正しくありま | 登録なし | 届けられるアドレス | 存在しない | 見つかりま | 見つからな | 見つけられ | 不明 | 無効 | 登録されてい | ありません | 誤り | いません | リストされてい | 記載されてい | 認識されません | 確認できません |
      使われておりません | 使われていません | 使用されておりません | 使用されていません | ご利用になれません | 該当する | お探しの | 登録がござい | 登録がありま | 登録のない | 関連付けられてい | 紐付けられてい | 紐づけられてい`,
    gone: `退会 | 逝去 | 死去 | 退任 | 転籍 | 閉鎖 | 利用停止 | 抹消 | 退職 | 退社 | 異動 | 在籍して | 離職 | 削除され | 廃止 | 解約`,
  },
  {
    recipient:
      '수신자 | 수신인 | 이름을 가진 사람 | 받는 | 사용자 | 주소 | 계정 | 메일함 | 사서함 | 회원 | 직원 | 담당자 | 사원 | @addr',
    domain: '도메인 | 호스트',
    noneLast: '없음 | 이 없습니다 | 가 없습니다 | 은 없습니다 | 는 없습니다 | 도 없습니다 | 없어요',
    unknown: `이제 없 | 존재하지 | 모릅니다 | 유효하지 않 | 올바르지 않 | 확인되지 않 | 등록된 ... 아닙 | 가입되어 있지 | 가입하지 않 | 찾을 수가 없 | 오타 | 개설되지 않 | 없는 | 이 없습니다 | 가 없습니다 | 은 없습니다 | 는 없습니다 | 도 없습니다 | 없음 | 찾을수 없 | 찾지 못 | 찾을 수 없 | 알 수 없 | 잘못된 | 잘못되 | 사용되지 않 | 등록되지 않 | 연결되어 있지 | 등록되어 있지`,
    gone: `퇴사 | 별세 | 이직 | 폐지 | 말소 | 퇴직 | 그만두 | 재직하지 | 근무하지 | 퇴직 | 탈퇴 | 삭제된 | 삭제되 | 해지 | 폐쇄`,
  },
  {
    recipient:
      'người nhận | người dùng | địa chỉ | hộp thư | tài khoản | nhân viên | penerima | pengguna | alamat | akun | kotak surat | kotak masuk | karyawan | ผู้รับ | ที่อยู่ | ผู้ใช้ | บัญชี | กล่องจดหมาย | พนักงาน | @addr',
    domain: 'miền | tên miền | domain | โดเมน',
    none: 'không có | không tìm thấy | tidak ada | tiada | tak ada | ไม่มี | ไม่พบ',
    noneLast: 'tidak ada | không có',
    unknown: `không tồn tại | tài khoản đã đóng | không còn tồn tại | không còn làm việc | không còn được sử dụng | tidak lagi bekerja | tidak lagi digunakan | tidak lagi aktif | akun telah ditutup | บัญชีถูกปิด | chưa được đăng ký | không được đăng ký | không có trong | không có người dùng | không có tài khoản | không có địa chỉ | sai địa chỉ | sai chính tả | đã bị xóa | đã bị xoá | đã nghỉ việc | tidak terdaftar | tidak memiliki akun | salah ketik | salah eja | salah tulis | sudah tidak ada | telah dihapus | sudah dihapus | tidak bekerja | bukan pengguna | belum terdaftar | ไม่ได้ลงทะเบียน | ไม่ปรากฏ | สะกดผิด | ถูกลบ | ลาออก | ไม่อยู่ในระบบ | không tìm thấy | không hợp lệ | không xác định | tidak ditemukan | tidak dapat ditemukan |
      tidak dijumpai | tidak wujud | tidak valid | tidak dikenal | tidak ada | ไม่พบ | ไม่มี | ไม่รู้จัก | ไม่ถูกต้อง`,
  },
];

/** Words of clauses about the sender, the client, the message or a failure of a lookup. */
const OTHERS = pattern(
  listWords(`sender | sending | you send from | you sent from | you write from | you wrote from | you are sending from | spf | dkim | dmarc | author of | author does | author is | from address | from: address | from domain | from: domain | mail from | envelope-from | return path | return-path | reverse | helo | ehlo | client | ptr |
  header | relay | your domain | your host~ | your server | your ip | connecting | authenticat | ip | ip-ad~ | ip-cím | ip-osoite | ip-адрес | ip地址 | ipアドレス | server address | authorized to | authorised to | been authori~ | been allowed | been permitted | allowed to | permitted to | password | credential | unknown reason | unknown error | unknown problem | reply-to | return address | callback | your account | unknown charset | tls~ | session | signature | signed | encoding | link to | a link | url~ | zeichensatz | dateityp | dateiformat | anhang | protokoll | befehl | pièce jointe | fichier | archivo | adjunto | allegato | anexo | bijlage | załącznik | вложен | 添付 | 附件 | unknown format | attachment | has been removed from | no such file | unknown command | invalid command | unrecognized command | invalid request | invalid header | try again | temporar | too many | lookup failed | certificate | gateway | message-id | invalid message | if the | may not | might not | maybe | possibly | check for | check whether | absender | expéditeur | expediteur | remitente | remetente | mittente | afzender | отправител | відправник | from unknown | of unknown | by unknown | unknown origin | unknown source | unknown type | unknown kind | unknown person | unknown people | unknown correspondent | unknown content | unknown file | unknown extension | unknown network | unknown location | unknown countr |
  da sconosciut | da mittenti sconosciut | від невідом | от неизвестн | de desconhecid | de desconocid | de remetentes | de remitentes | d'inconnu | d'expéditeurs | von unbekannt | van onbekend | från okän | fra ukend | fra ukjen | od nieznan | od neznám | ismeretlen felad | bilinmeyen gönder | de necunoscu | από άγνωστ | unbekannter herkunft | unbekannten typs | von unbekannten | unbekannte dateien | origine inconnue | type inconnu | origen desconocido | tipo desconocido | origine sconosciuta | tipo sconosciuto | origem desconhecida | tipo desconhecido | onbekende herkomst | onbekend type | nieznanego pochodzenia | nieznanego typu | неизвестного происхождения | неизвестного типа | 来历不明 | 出所不明 | 不明な添付 | 応答が | 応答し | 応答を | 응답이 | 응답을 | 응답하지 | 没有响应 | 无响应 | 沒有回應 | 没有回应 | 無回應 | you are not | you're not | you are un~ | you claim | you were not | your address | your email address | your e-mail address | your mail address | your mailbox | sie sind nicht | sie sind kein~ | sie sind diesem | sie sind hier | ihre adresse | ihre mailadresse | ihre e-mail-adresse | vous n'êtes | vous ne figurez | vous n'avez | sie haben kein~ | du hast kein~ | du har i~ | u heeft geen | u hebt geen | você não | nie masz | nie mają państwo | votre adresse | votre compte | no está usted | usted no | tu dirección | tu correo | tu cuenta | vuestra | non sei | tuo indirizzo | vostro indirizzo | você não | teu endereço | u bent | u staat | uw adres | uw e-mailadres | du är inte | du er ikke | din adress~ | din e-post~ | nie jesteś | twój adres | twoj adres | państwa adres | вас нет | вы не | ваш адрес | вашего адреса | вашої | ваша адреса | vaše adresa | vaša adresa | adresiniz | az ön címe | adresa dvs | adresa dumneavoastră | sähköpostiosoitteesi | osoitteesi | 您不在 | 您没有 | 您的地址 | 您的邮箱 | 您的電子 | 您的郵箱 | あなた | 귀하의 주소 | this list | mailing list | allow list | white list | whitelist | dieser liste | diese liste | cette liste | esta lista | questa lista | deze lijst | denna lista | vår lista | denne liste | tej liście | этот список | этом списке | 白名单 | 白名單 | 此列表 | contacts | contact list | contactos | contatti | контактов | kontakte~ |
  zertifikat | certificat | certificado | certificato | certificaat | certyfikat | сертификат | сертифікат | 証明書 | 证书 | 憑證 | 인증서 | key | keys | schlüssel | verschlüssel~ | clé | chiave | chave | sleutel | nyckel | nøgle | nøkkel | klucz~ | klíč~ | kulcs~ | ключ~ | 密钥 | 密鑰 | 公開鍵 | 秘密鍵 | content type | content-type | media type | mime type | file type | mailer error | unknown mailer | in message | command not | macro | token | submission | your company | your organi~ | you have no | backend | your login | your user~ | the link | links~ | leads to | parameter~ | closed to | closed for | limited to | restricted to | not members | non-members | příloh | prílohy | prílohu | csatolmány | melléklet | atașament | ek dosya | eklenti | συνημμέν | bilag~ | vedlegg | bilaga | bilagor | liite | liitte | priedas | pielikum | прикачен | вкладен | додатк | privit | priponk | prilog | مرفق | מצורף | đính kèm | lampiran | ไฟล์แนบ | 첨부 | votre serveur | votre domaine | votre ip | ihr server | ihre domain | ihre ip | su servidor | su dominio | su ip | vostro server | tuo server | vostro dominio | seu servidor | seu domínio | uw server | uw domein | ваш сервер | ваш домен | ваш ip | váš server | vaše doména | twój serwer | din server | din domän | sunucunuz | 您的服务器 | 您的域名 | お客様のサーバ | 귀하의 서버 | connection | connexion | verbindung | conexión | conexion | connessione | conexão | conexao | verbinding | anslutning | forbindelse | tilkobling | yhteys | yhteyttä | połączeni | spojení | kapcsolat | conexiun | соединени | з'єднан | връзката | bağlantı | σύνδεση | חיבור | الاتصال | اتصال | ارتباط با | कनेक्शन | การเชื่อมต่อ | kết nối | koneksi | veza | povezav | ryšys | savienojum | ühendus | 连接 | 連接 | 連線 | 接続 | 연결 | permission | berechtigung | autorisation | autorización | autorizzazion | autorização | permiso | permesso | permissão | toestemming | tillåtelse | tilladelse | tillatelse | uprawnie | oprávněn | jogosult | permisiun | разрешени | дозвол | yetki | 권한 | 権限 | 权限 | 權限 |
  émetteur | émettrice | emisor | emissor | emittent | sendende~ | verzendende | avsändande | afsendende | avsendende | отправляющ | 发送方 | 發送方 | 发件方 | feladó | lähettäj | expeditor | подател | remitent | sendand | odosielate | pošiljatelj | pošiljalac | pošiljaoc | пошиљалац | испраќач | siuntėj | sūtītāj | saatja | αποστολέ | αποστολε | שולח | مرسلين | من مرسل | فرستنده | प्रेषक | ผู้ส่ง | người gửi | pengirim | 陌生人 | 发送者 | 發送者 | 發件人 | 寄信人 | avsender | avsändare | afsender | nadawc | odesílatel | gönderen | 发件人 | 寄件者 | 寄件人 | 差出人 | 送信者 | 送信元 | 발신 | 보낸 | message was deleted | message has been deleted | message has been removed | mail was deleted | nachricht wurde gelöscht | nachricht an @addr wurde gelöscht | e-mail wurde gelöscht | message a été supprimé | mensaje fue eliminado | mensaje ha sido eliminado |
  messaggio è stato eliminato | mensagem foi excluída | mensagem foi removida | bericht is verwijderd | сообщение удалено | сообщение было удалено | письмо удалено | письмо было удалено | 邮件已被删除 | 邮件已删除 | メールは削除 | メールを削除`),
);

/** Hosts and networks, unless a preposition makes them the place where a recipient is missing: `never been a user on this server`. */
const HOST =
  /(?<!(?<!\p{L})(?:on|at|in|by|of|to|from|en|bei|auf|unter|chez|sur|su|presso|em|op|bij|na|w|v|u|på|hos|на|в|у|de|di|do|da|i) (?:(?:this|that|the|our|your|dies\p{L}{2}|unser\p{L}{2}|dem|der|ce|notre|este|nuestro|questo|nostro|nosso|deze|onze|ons|tym|naszym|этом|нашем) )?(?:mail )?@?)(?<!\p{L})(?:host|server|client|sender|domain|network)s?(?!\p{L})/u;

const MATCHERS = LANGUAGES.map(({ recipient, domain, unknown, loose, none, noneLast, missed, gone }) => {
  const unknownWords = listWords(unknown);
  const looseWords = [...listWords(loose), ...unknownWords.filter((word) => word.includes(GAP))];
  const strictWords = unknownWords.filter((word) => !word.includes(GAP));
  return {
    recipient: pattern(listWords(recipient)),
    domain: pattern(listWords(domain)),
    none: makeNonePattern(listWords(none), listWords(recipient)),
    noneLast: noneLast === undefined ? null : endingWith(listWords(noneLast)),
    missed: makeNonePattern(listWords(missed), listWords(recipient)),
    unknown: pattern(strictWords),
    unknownOrGone: pattern([...strictWords, ...listWords(gone)]),
    loose: looseWords.length === 0 ? null : pattern(looseWords),
    isLatin: /[a-z]/.test(unknown),
  };
});

/** A clause that none of the languages has a word for, as most are. */
const UNKNOWN = pattern(
  LANGUAGES.flatMap(({ unknown, loose, none, noneLast, missed, gone }) =>
    [unknown, loose, none, noneLast, missed, gone].flatMap(listWords),
  ),
);

/** English words for none are no words of an unknown recipient by themselves. */
const NO_THING = String.raw`(?<!\p{L})no (?:(?:such|valid|matching|known|active|suitable|other) )?@thing`;

/** A thing of a recipient (phrase-heads.ts) that is said to be missing. */
const THING_UNKNOWN = compileLater(
  () =>
    `@thing[がはもを은는이가을를]?(?: [^\\s@]{1,16}){0,3} ?(?:${UNKNOWN.source})|(?:${UNKNOWN.source})\\p{L}{0,6}(?: [^\\s@]{1,12}){0,2} ?@thing|${NO_THING}`,
);

/** What no recipient does, in place of not being there: `No mailbox accepts zip`. */
const NO_ONE_MAY =
  /(?<!\p{L})(?:no|none of our|keine?|geen|aucune?|ning[úu]na?|nessuna?|nenhuma?|ingen|žádn[ýá]|žiadn[ya]|żaden) (?:\p{L}{1,16} )?(?:users?|mailbox(?:es)?|recipients?|accounts?|one|inbox|address(?:es)?|person|member|employee|benutzer|nutzer|empfänger|postfach|konto|kunde|mitarbeiter|teilnehmer|adresse|gebruiker|ontvanger|postvak|utilisateur|destinataire|compte|boîte|usuario|destinatario|cuenta|buzón|utente|casella|indirizzo|usuário|destinatário|conta|caixa|användare|mottagare|bruger|modtager|bruker|mottaker|użytkownik|odbiorca|uživatel|používateľ|příjemce|príjemca) (?:accepts?|accepted|receives?|takes?|wants?|may|must|shall|can (?:receive|accept|take|open)|is (?:allowed|permitted|able)|darf|dürfen|nimmt|akzeptiert|empfängt|mag|mogen|accepteert|ontvangt|reçoit|accepte|recibe|acepta|riceve|accetta|recebe|aceita|får|må|tar emot|modtager|mottar|przyjmuje|přijímá|prijíma)(?!\p{L})/u;

/** Behind `left`: the end of the clause, a place that people leave, or a time. */
const LEFT_TAIL = String.raw`(?: us)?(?: ?$|[.,;:!?()\]"']| (?:[-–—]|(?:(?:the|our|this|that|your|his|her|their|its) )?(?:\p{L}{2,14} )?(?:compan|firm|organi|school|universit|team|institut|business|employ|office|department|college|group|corporation|agency|workforce|staff|post|job|position|here)|(?:in|on|since|at|as|and|effective|for good|permanently|last|this|to join|@addr|@host)(?!\p{L})))`;
/** Says that a person left, and not that a person left something: `The user has left the inbox unattended`. */
const HAS_LEFT = new RegExp(
  String.raw`(?<!\p{L})(?:(?:has|have|had|since|user|employee|person|recipient|colleague|owner|customer) left|left(?= us))(?=${LEFT_TAIL})`,
  'u',
);
const LEAVES_THING = new RegExp(
  String.raw`(?<!\p{L})(?:(?:has|have|had|recipient|user|employee|person|customer) left|left(?= us))(?!${LEFT_TAIL})`,
  'u',
);

/** Says that nobody has something: an address, when that is what ends the clause or when a place follows. */
const NOBODY_HAS =
  /(?<!\p{L})(?:(?:nobody|no[ -]one)(?: here| at @host)? (?:has|have) (?:that|this|such an?)|(?:hier )?(?:niemand hat|hat(?: hier)? niemand) diese[ns]?|niemand(?: hier)? heeft (?:dit|deze?)|personne(?: ici)? n'a cet(?:te)?|nadie(?: aqu[ií])? (?:tiene|usa) es[ea]|nessuno(?: qui)? (?:ha|usa) quest[oa']?|ningu[eé]m(?: aqui)? tem es[st][ea]|ingen(?: här| her)? har (?:den här|den|denne|dette)|nikt(?: tutaj| tu)? nie ma tego)(?!\p{L})(?! ?(?:$|[.,;:!?)]))/u;
const ADDRESS_BEHIND =
  /^ ?(?:(?:e-?mail|mail|user|recipient|posta|correo|dirección de correo|adresse de|boîte aux)[ -]?)?(?:\p{L}{0,8}add?ress?\p{L}{0,4}|adreça|mailbox|inbox|account|alias|name|nam\p{L}{0,2}|username|\p{L}{0,6}postfach|\p{L}{0,5}konto\p{L}{0,2}|nom|boîte|compte|courriel|direcci[oó]n|buz[oó]n|cuenta|nombre|correo|indirizzo|casella|nome|endereço|endereco|caixa|conta|postvak|naam|e-?mail|mail|skrzynk\p{L}|adresu|lettres)(?: (?:de correo|de messagerie|electrónica|électronique|email|e-?mail|mail|di posta|elettronica|de e-?mail))?(?: ?(?:$|[.,;:!?)(])| (?:here|at|on|in|any ?more|hier|bei|auf|ici|aquí|aqui|qui|chez|en|em|här|her|på|tu|@addr|@host|@target)(?!\p{L}))/u;

/** Returns whether a clause says that nobody has something that is no address: `Nobody here has that much space`. */
function isHavingOther(clause: string): boolean {
  const found = NOBODY_HAS.exec(clause);
  return found !== null && !ADDRESS_BEHIND.test(clause.slice(found.index + found[0].length));
}

/** Returns whether a text (as in {@link unknownPartIn}) is about who is signed in or sends, about another time, about rights, or about a thing that someone has, or left. */
export function isAboutOther(text: string): boolean {
  return saysWhoOrWhen(text) || NO_ONE_MAY.test(text) || LEAVES_THING.test(text) || isHavingOther(text);
}

/** Verbs of what none may do: `Kein Benutzer darf Dateien dieses Typs empfangen`. */
const MAY =
  /(?<!\p{L})(?:may|can|will|shall|must|does|accepts?|receives?|darf|dürfen|kann|können|nimmt|mag|mogen|kan|kunnen|peut|peuvent|reçoit|accepte|puede|pueden|recibe|acepta|può|possono|riceve|accetta|pode|podem|recebe|aceita|może|mogą|przyjmuje|může|mohou|môže|přijímá|prijíma|kaphat|fogad|poate|pot|primește|может|могут|принимает|може|можуть|приймає|får|må|tar emot|modtager|mottar|voi|saa|ottaa|μπορεί|μπορούν|može|mogu|prima)(?!\p{L})/u;

/** What a mailbox may have none of: room, rights, answers. */
const ROOM =
  /(?<!\p{L})(?:space|room|quota|platz|speicher\p{L}{0,10}|espace|place|espacio|sitio|spazio|espaço|lugar|ruimte|plaats|utrymme|plads|plass|tilaa|miejsc\p{L}{1,2}|míst\p{L}{0,2}|miest\p{L}{0,2}|hely\p{L}{0,2}|spațiu\p{L}{0,2}|loc|мест\p{L}{1,2}|місц\p{L}{1,2}|място|yer|alan|χώρο\p{L}{0,1}|prostor\p{L}{0,1}|viet\p{L}{1,2}|vietos|ruumi|espai|chỗ|dung lượng|ruang)(?!\p{L})|空间|空間|容量|空き|領域|スペース|공간|용량|מקום|مساحة|فضا|जगह|พื้นที่|回复|答复|响应|返信|応答|응답/u;

/** What does not exist for one sender exists: `This address does not exist for you`. */
export const FOR_YOU =
  /(?<!\p{L})(?:(?:for|to) you|für (?:sie|dich|euch)|pour (?:vous|toi)|para (?:usted(?:es)?|ti|vos|você|si)|per (?:lei|te|voi)|voor (?:u|jou|jullie)|för (?:dig|er)|for (?:dig|deg|dere|jer)|dla (?:ciebie|państwa|pana|pani|was)|pro (?:vás|tebe)|pre (?:vás|teba)|для (?:вас|тебя|тебе))(?!\p{L})|对您|對您|对你|あなたに/u;

/** Maximum characters of a clause; longer sentences say more than one thing. */
const MAX_CLAUSE_LENGTH = 240;
/** Ends of clauses in lower-case text on one line; the period of a status or a host name ends none. */
const CLAUSE_END =
  /[;!?|。！？；\n]|(?<!(?<!\p{L})(?:mr|mrs|ms)|(?<![\p{Nd}.])\p{Nd}{1,2}(?=\. \p{L}))\.(?=\s|$)|\s[-–—*]{1,4}\s|\*\*/u;

/**
 * Returns what a text (lower case, on one line, with `@addr` and `@host` in place of addresses and host names) says not to exist; null when
 * it says that of nothing. Each of its clauses is searched once for each language. `isPolicy`: the status is one of policy.
 */
export function unknownPartIn(text: string, isPolicy = false): UnknownPart | null {
  for (let clause of text.split(CLAUSE_END)) {
    if (
      clause.length < 4 ||
      clause.length > MAX_CLAUSE_LENGTH ||
      OTHERS.test(clause) ||
      isUncertain(clause) ||
      FOR_YOU.test(clause) ||
      isMissedHost(clause)
    )
      continue;
    if (clause.includes('@thing') && THING_UNKNOWN.test(clause)) continue;
    const isNamed =
      NAME_LEFT.test(clause) ||
      (!isPolicy && NONE_OF_NAME.test(clause)) ||
      (!isPolicy && (isMissedLast(clause) || isMissedObject(clause)));
    const hasNone = readHasNone(clause, namesRecipient);
    if (!(isNamed || hasNone !== null || UNKNOWN.test(clause)) || isAboutOther(clause)) continue;
    if (isNamed) return 'recipient';
    const isAscii = /^[\x20-\x7e]*$/.test(clause);
    const mayBeLoose = !isPolicy && !HOST.test(clause);
    const mayHaveNone = mayBeLoose && !ROOM.test(clause) && !MAY.test(clause);
    if (hasNone?.isOfRecipient === true && mayHaveNone) return 'recipient';
    // `no recipient` of a message, or `no account` of some kind, is in what follows.
    if (hasNone?.isOfRecipient === false) clause = clause.slice(0, hasNone.at);
    for (const { recipient, domain, none, noneLast, missed, unknown, unknownOrGone, loose, isLatin } of MATCHERS) {
      if (isAscii && !isLatin) continue;
      if (mayHaveNone && (none?.test(clause) === true || (noneLast?.test(clause) === true && recipient.test(clause))))
        return 'recipient';
      if (!isPolicy && isMissed(clause, missed)) return 'recipient';
      // An account of the sender is cancelled, too.
      const isWorded = (isPolicy ? unknown : unknownOrGone).test(clause);
      if (!isWorded && !(mayBeLoose && loose?.test(clause))) continue;
      if (recipient.test(clause)) return 'recipient';
      if (isWorded && unknown.test(clause) && domain.test(clause)) return 'domain';
    }
  }
  return null;
}

/** Returns whether a clause (as in {@link unknownPartIn}) is about the sender, the message, a list, a key or another thing, whatever it says of a recipient. */
export function isAboutThing(clause: string): boolean {
  return OTHERS.test(clause);
}

/** Returns whether a wording names a recipient, and does not only say that something does not exist. */
export function namesRecipient(wording: string): boolean {
  return MATCHERS.some(({ recipient }) => recipient.test(wording));
}

/** Says that a person left, in many languages. */
const LEFT = pattern(
  listWords(`left the company | left our | left the firm | left the organi | retired from | has retired | no longer works | no longer work for | no longer employed | no longer with us | not employed | deceased | passed away |
  ausgeschieden | unternehmen verlassen | firma verlassen | arbeitet nicht mehr | nicht mehr bei uns | nicht mehr beschäftigt | nicht mehr angestellt | nicht mehr im unternehmen | im ruhestand | in rente | verstorben | a quitté | ne travaille plus | ne fait plus partie | n'est plus employé | n'est plus salarié | pris sa retraite | ya no trabaja | ya no labora | ya no es emplead | se jubiló | ha dejado la empresa | dejó la empresa |
  non lavora più | non fa più parte | ha lasciato l | in pensione | não trabalha mais | já não trabalha | não faz mais parte | saiu da empresa | deixou a empresa | se aposentou | werkt niet meer | niet meer in dienst | uit dienst | niet meer werkzaam | met pensioen | har slutat | har sluttet | ikke længere ansat | ikke lenger ansatt | inte längre anställ | gått i pension | gået på pension | ei työskentele | eläkkeel |
  nie pracuje | odszedł z | odeszła z | przeszedł na emerytur | nepracuje | odešel z | odišiel z | nem dolgozik | nyugdíjba | nu mai lucrează | pensionat | не работает | уволился | уволен | на пенсии | не працює | не работи | напусна | ayrıldı | ayrılmış | emekli | artık çalışm | δεν εργάζεται | αποχώρησε | לא עובד | עזב את | لم يعد يعمل | ترك العمل | 离职 | 離職 | 退休 | 辞职 | 辭職 | 退職 | 退社 | 퇴사 | 퇴직`),
);

/** Only a name, and that its person left: `joe is no longer with this organization`. */
const NAME_LEFT = compileLater(
  () =>
    String.raw`^[\s\p{Nd}.:<"'-]{0,20}(?!(?:you|we|they|it|this|that|who|which|message|mail)(?!\p{L}))\p{L}[\p{L}\p{N}._+-]{0,40}(?: \p{L}[\p{L}-]{1,20})?[>"']? (?:(?:is|has|was|ist|hat|est|è|é|har|er|is) )?(?:${LEFT.source}|${HAS_LEFT.source}|no longer (?:with|at|part of|employed (?:by|at|with|in)|working (?:for|at|with)) (?:(?:the|this|that|our) )?(?:\p{L}{2,12} )?(?:compan|organi|firm|team|school|universit|institut|agenc|department|business|office|hospital|college|us(?!\p{L})))`,
);

/** No recipient of a name: `No account joe here`, and an address that is none of a system: `joe@example.com is not a GroupWise user`. */
const NONE_OF_NAME =
  /(?<!\p{L})no @addr (?:here|at|in|on)(?!\p{L})|@addr>? (?:is not|isn't) an? (?:(?:known|valid|registered|recogni[sz]ed|local|existing|existent|active|current|real|working|hosted|deliverable|mail|e-?mail|imap|pop3?|unix|system|virtual|groupwise|zimbra|exchange|domino|notes|kerio|axigen|mdaemon) )?(?:user|mailbox|account|recipient|alias)(?!\p{L})|(?<!\p{L})no (?:such |valid |known )?(?:user|mailbox|account|address|recipient|alias|person|inbox) (?:(?:called|named) )?["'<]?[\p{L}\p{N}@._+-]{2,40}["'>]? (?:here|(?:on|at|in) (?:this|our) (?:server|system|host|domain))(?!\p{L})/u;

/** Returns whether a text (as in {@link unknownPartIn}) says that a person is there no longer, and not that it may be so. */
export function saysLeft(text: string): boolean {
  return text
    .split(CLAUSE_END)
    .some(
      (clause) =>
        clause.length <= MAX_CLAUSE_LENGTH &&
        !OTHERS.test(clause) &&
        !ALTERNATIVE.test(clause) &&
        (LEFT.test(clause) || HAS_LEFT.test(clause)),
    );
}
