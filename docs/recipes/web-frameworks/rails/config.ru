# A Rails application that receives mail by webhook, answers it over REST, and sends mail over SMTP submission.

require "logger"
require "rails"
require "action_controller/railtie"
require "action_mailer/railtie"
require "net/http"

class App < Rails::Application
  config.secret_key_base = ENV.fetch("KEY")
  config.eager_load = false
  config.consider_all_requests_local = false
  config.hosts = %w[localhost 127.0.0.1]
  config.logger = Logger.new($stderr, level: Logger::WARN)
  config.action_mailer.smtp_settings = {
    address: ENV.fetch("SERVER"),
    port: ENV.fetch("SUBMISSION_PORT").to_i,
    user_name: "postroom",
    password: ENV.fetch("KEY"),
    authentication: :plain,
    enable_starttls: true,
    ca_file: ENV.fetch("CERT")
  }
  routes.append do
    root to: "mail#index"
    post "webhook", to: "mail#webhook"
    post "notify", to: "mail#notify"
  end
end

class Notices < ActionMailer::Base
  def notice(to, subject, text)
    mail(from: ENV.fetch("FROM"), to: to, subject: subject, body: text)
  end
end

class MailController < ActionController::API
  SEEN = {}
  SUBJECTS = []

  def index = render(json: SUBJECTS)

  def webhook
    body = request.raw_post
    return head(:unauthorized) unless verify(ENV.fetch("SECRET"), request.headers, body)
    event = JSON.parse(body)
    if event["type"] == "email.received" && !SEEN.key?(event["id"])
      reply(event["email"], event["id"])
      SEEN[event["id"]] = true
      SUBJECTS << event["email"]["subject"]
    end
    head :no_content
  end

  def notify
    Notices.notice(params.require(:to), params.require(:subject), params.require(:text)).deliver_now
    head :no_content
  end

  private

  def verify(secret, headers, body)
    id, time, signatures = %w[webhook-id webhook-timestamp webhook-signature].map { |name| headers[name].to_s }
    key = secret.delete_prefix("whsec_").unpack1("m")
    expected = "v1," + [OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{time}.#{body}")].pack("m0")
    recent = (Time.now.to_i - time.to_i).abs <= 300
    recent && signatures.split(" ").any? { |one| ActiveSupport::SecurityUtils.secure_compare(expected, one) }
  end

  def reply(email, event_id)
    uri = URI("#{ENV.fetch("BASE")}/api/e2/emails/#{email["id"]}/reply")
    headers = {
      "Authorization" => "Bearer #{ENV.fetch("KEY")}",
      "Content-Type" => "application/json",
      "Idempotency-Key" => event_id # a webhook that is posted twice is answered once
    }
    body = { from: ENV.fetch("FROM"), text: "We received “#{email["subject"]}”." }.to_json
    Net::HTTP.post(uri, body, headers).value
  end
end

App.initialize!
run App
