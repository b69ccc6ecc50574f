package botarena;

import botarena.v1.Play;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;

/**
 * The stub of {@code botarena.v1.PlayService}. Its one method spares the build gRPC's plugin for
 * protoc.
 */
public final class PlayService {
  /** {@code rpc Play(stream PlayRequest) returns (stream PlayResponse)}. */
  public static final MethodDescriptor<Play.PlayRequest, Play.PlayResponse> PLAY =
      MethodDescriptor.<Play.PlayRequest, Play.PlayResponse>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName(
              MethodDescriptor.generateFullMethodName("botarena.v1.PlayService", "Play"))
          .setRequestMarshaller(ProtoUtils.marshaller(Play.PlayRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(Play.PlayResponse.getDefaultInstance()))
          .build();

  private PlayService() {}

  /**
   * Opens a stream. What is given to the result goes to the arena; {@code responses} hears the
   * arena.
   */
  public static StreamObserver<Play.PlayRequest> play(
      Channel channel, StreamObserver<Play.PlayResponse> responses) {
    return ClientCalls.asyncBidiStreamingCall(
        channel.newCall(PLAY, CallOptions.DEFAULT), responses);
  }
}
