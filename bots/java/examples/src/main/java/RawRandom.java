import static botarena.PlayService.PLAY;
import static botarena.v1.Play.BotEvent.EventCase.EVENT_NOT_SET;
import static io.grpc.CallOptions.DEFAULT;
import static io.grpc.Grpc.newChannelBuilder;
import static io.grpc.Metadata.ASCII_STRING_MARSHALLER;
import static io.grpc.stub.ClientCalls.blockingBidiStreamingCall;
import static io.grpc.stub.MetadataUtils.newAttachHeadersInterceptor;
import static java.lang.System.getenv;

import botarena.v1.Play.Act;
import botarena.v1.Play.Action;
import botarena.v1.Play.ArenaEvent;
import botarena.v1.Play.BotEvent;
import botarena.v1.Play.DecisionRequested;
import botarena.v1.Play.Hello;
import botarena.v1.Play.PlayRequest;
import botarena.v1.Play.PlayResponse;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.Metadata.Key;
import java.util.Random;

// The bare protocol: a whole bot without the SDK, in any language with a gRPC library. Plays at
// random.
class RawRandom {
  static void act(DecisionRequested due, Act.Builder act) {
    Action choice = due.getLegal(new Random().nextInt(due.getLegalCount()));
    act.setGameId(due.getGameId()).setDecisionId(due.getDecisionId()).setActionId(choice.getId());
  }

  public static void main(String[] args) throws Exception {
    Metadata token = new Metadata();
    token.put(Key.of("authorization", ASCII_STRING_MARSHALLER), "Bearer " + getenv("ARENA_TOKEN"));
    var arena = newChannelBuilder(getenv("ARENA_ADDRESS"), InsecureChannelCredentials.create());
    var channel = arena.intercept(newAttachHeadersInterceptor(token)).build();
    var call = blockingBidiStreamingCall(channel, PLAY, DEFAULT);
    PlayRequest.Builder frame = PlayRequest.newBuilder();
    call.write(frame.addEvents(BotEvent.newBuilder().setHello(Hello.getDefaultInstance())).build());
    for (PlayResponse response = call.read(); response != null; response = call.read())
      for (ArenaEvent event : response.getEventsList()) {
        BotEvent.Builder own = frame.clear().addEventsBuilder();
        switch (event.getEventCase()) {
          case SET_OFFERED -> own.getReadyBuilder().setOfferId(event.getSetOffered().getOfferId());
          case PING -> own.getPongBuilder().setNonce(event.getPing().getNonce());
          case DECISION_REQUESTED -> act(event.getDecisionRequested(), own.getActBuilder());
        }
        if (own.getEventCase() != EVENT_NOT_SET) call.write(frame.build());
      }
  }
}
