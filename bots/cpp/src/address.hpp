#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace botarena {

// Where the arena is: host:port or unix:path.
class Target {
 public:
  // TLS everywhere but on this machine, unless `insecure`; with a `ca`, the path of a PEM file, there too. Throws
  // Error, saying what would be right.
  static Target parse(const std::string& text, bool insecure, const std::string& ca = {});

  const std::string& text() const { return text_; }
  bool tls() const { return tls_.has_value(); }
  // Who can open a socket file has been let in by the file system.
  bool needs_token() const { return !is_socket(); }
  // How long nothing may answer before the process gives up; nothing: for ever. A socket file belongs to a server on
  // this machine: where that is gone, its bots must not stay behind.
  std::optional<std::chrono::duration<double>> patience(bool connected_before) const;
  // A new connection.
  std::shared_ptr<grpc::Channel> channel() const;

 private:
  using Tls = std::optional<grpc::SslCredentialsOptions>;

  Target(std::string text, Tls tls) : text_(std::move(text)), tls_(std::move(tls)) {}
  bool is_socket() const;

  std::string text_;
  Tls tls_;
};

}  // namespace botarena
