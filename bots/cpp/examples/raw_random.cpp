// The bare protocol: a whole bot without the SDK, in any language with a gRPC library. Plays at random.

#include <botarena/v1/play.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <random>
#include <string>

namespace pb = botarena::v1;

int main() {
  grpc::ClientContext context;
  context.AddMetadata("authorization", std::string("Bearer ") + std::getenv("ARENA_TOKEN"));
  auto channel = grpc::CreateChannel(std::getenv("ARENA_ADDRESS"), grpc::InsecureChannelCredentials());
  auto stream = pb::PlayService::NewStub(channel)->Play(&context);
  pb::PlayRequest reply;
  reply.add_events()->mutable_hello();
  for (pb::PlayResponse frame; stream->Write(reply) && stream->Read(&frame);) {
    reply.Clear();
    for (const auto& event : frame.events()) {
      if (event.has_set_offered()) {
        reply.add_events()->mutable_ready()->set_offer_id(event.set_offered().offer_id());
      } else if (event.has_decision_requested()) {
        const auto& asked = event.decision_requested();
        auto* act = reply.add_events()->mutable_act();
        act->set_game_id(asked.game_id());
        act->set_decision_id(asked.decision_id());
        act->set_action_id(asked.legal(std::random_device{}() % asked.legal_size()).id());
      } else if (event.has_ping()) {
        reply.add_events()->mutable_pong()->set_nonce(event.ping().nonce());
      }
    }
  }
}
