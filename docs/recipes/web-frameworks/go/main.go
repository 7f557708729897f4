// A Go application that receives mail by webhook, answers it over REST, and sends mail over SMTP submission.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"mime"
	"net/http"
	"net/smtp"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	mutex    sync.Mutex
	seen     = map[string]bool{}
	subjects = []string{}
	client   = &http.Client{Timeout: 30 * time.Second}
)

func verify(secret string, header http.Header, body []byte) bool {
	seconds, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), seconds, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(one)) {
			return true
		}
	}
	return false
}

func reply(emailID, subject, eventID string) error {
	body, err := json.Marshal(map[string]string{"from": os.Getenv("FROM"), "text": "We received “" + subject + "”."})
	if err != nil {
		return err
	}
	url := os.Getenv("BASE") + "/api/e2/emails/" + emailID + "/reply"
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", eventID) // a webhook that is posted twice is answered once
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return errors.New(response.Status)
	}
	return nil
}

// send needs STARTTLS with the certificate in CERT: smtp.SendMail trusts only those of the system.
func send(to, subject, text string) error {
	if strings.ContainsAny(to+subject, "\r\n") {
		return errors.New("a field has more than one line")
	}
	pem, err := os.ReadFile(os.Getenv("CERT"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	server, from := os.Getenv("SERVER"), os.Getenv("FROM")
	connection, err := smtp.Dial(server + ":" + os.Getenv("SUBMISSION_PORT"))
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.StartTLS(&tls.Config{RootCAs: roots, ServerName: server}); err != nil {
		return err
	}
	if err := connection.Auth(smtp.PlainAuth("", "postroom", os.Getenv("KEY"), server)); err != nil {
		return err
	}
	if err := connection.Mail(from); err != nil {
		return err
	}
	if err := connection.Rcpt(to); err != nil {
		return err
	}
	message, err := connection.Data()
	if err != nil {
		return err
	}
	fmt.Fprintf(message, "From: %s\r\nTo: %s\r\nSubject: %s\r\n", from, to, mime.QEncoding.Encode("utf-8", subject))
	fmt.Fprintf(message, "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n", text)
	if err := message.Close(); err != nil {
		return err
	}
	return connection.Quit()
}

func webhook(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(io.LimitReader(request.Body, 50_000_000))
	if err != nil || !verify(os.Getenv("SECRET"), request.Header, body) {
		writer.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event struct {
		ID    string
		Type  string
		Email struct{ ID, Subject string }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		writer.WriteHeader(http.StatusBadRequest)
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	if event.Type == "email.received" && !seen[event.ID] {
		if err := reply(event.Email.ID, event.Email.Subject, event.ID); err != nil {
			http.Error(writer, err.Error(), http.StatusBadGateway) // Postroom posts the webhook again
			return
		}
		seen[event.ID] = true
		subjects = append(subjects, event.Email.Subject)
	}
	writer.WriteHeader(http.StatusNoContent)
}

func notify(writer http.ResponseWriter, request *http.Request) {
	if err := send(request.FormValue("to"), request.FormValue("subject"), request.FormValue("text")); err != nil {
		http.Error(writer, err.Error(), http.StatusBadGateway)
		return
	}
	writer.WriteHeader(http.StatusNoContent)
}

func index(writer http.ResponseWriter, _ *http.Request) {
	mutex.Lock()
	defer mutex.Unlock()
	writer.Header().Set("Content-Type", "application/json")
	json.NewEncoder(writer).Encode(subjects)
}

func main() {
	http.HandleFunc("/webhook", webhook)
	http.HandleFunc("/notify", notify)
	http.HandleFunc("/", index)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
