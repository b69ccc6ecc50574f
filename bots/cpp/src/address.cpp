#include "address.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "botarena/botarena.hpp"

namespace botarena {

namespace {

constexpr std::chrono::duration<double> kFirstPatience{30};
constexpr std::chrono::duration<double> kSocketPatience{60};
constexpr int kKeepaliveMs = 30'000;
constexpr int kMaxFrameBytes = 16 << 20;
const std::string kUnix = "unix:";

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" ||
         (host.rfind("127.", 0) == 0 && host.find_first_not_of("0123456789.") == std::string::npos);
}

bool is_port(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 5 &&
                      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits && std::stoi(text) > 0 && std::stoi(text) < 65536;
}

// The contents of a PEM file with certificates.
std::string read_ca(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(Error::kMisconfigured, "cannot read the CA " + path + ": " + std::strerror(errno));
  }
  std::ostringstream read;
  read << file.rdbuf();  // of a folder, nothing
  std::string pem = read.str();
  if (pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    throw Error(Error::kMisconfigured, "the CA " + path + " holds no certificate in PEM");
  }
  return pem;
}

}  // namespace

Target Target::parse(const std::string& text, bool insecure, const std::string& ca) {
  if (insecure && !ca.empty()) {
    throw Error(Error::kMisconfigured, "--insecure means no TLS and --ca means TLS: choose one");
  }
  if (text.rfind(kUnix, 0) == 0) {
    if (text == kUnix) {
      throw Error(Error::kMisconfigured, "unix: needs the path of a socket, e.g. unix:/run/arena.sock");
    }
    return {text, std::nullopt};
  }
  const auto colon = text.rfind(':');
  const bool good = colon != std::string::npos && colon > 0 && text.find_first_of("/ ") == std::string::npos &&
                    is_port(text.substr(colon + 1));
  if (!good) {
    throw Error(Error::kMisconfigured,
                "'" + text + "' is no address: write host:port, e.g. localhost:7700, or unix:/path");
  }
  if (insecure || (ca.empty() && is_loopback(text.substr(0, colon)))) return {text, std::nullopt};
  grpc::SslCredentialsOptions tls;  // as it is, the system's certificates
  if (!ca.empty()) tls.pem_root_certs = read_ca(ca);
  return {text, std::move(tls)};
}

std::optional<std::chrono::duration<double>> Target::patience(bool connected_before) const {
  if (!connected_before) return kFirstPatience;
  if (is_socket()) return kSocketPatience;
  return std::nullopt;
}

std::shared_ptr<grpc::Channel> Target::channel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetMaxReceiveMessageSize(kMaxFrameBytes);
  // Channels of one process share connections and their back-off; ours is its own.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto credentials = tls_ ? grpc::SslCredentials(*tls_) : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel(text_, credentials, arguments);
}

bool Target::is_socket() const {
  return text_.rfind(kUnix, 0) == 0;
}

}  // namespace botarena
