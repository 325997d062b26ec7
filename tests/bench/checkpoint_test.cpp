// Decays read from checkpoints: names and formulas of public models, files that are not sound.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "checkpoint/decay_layers.hpp"
#include "support/safetensors_bytes.hpp"

namespace wane::bench {
namespace {

using support::named_numbers, support::safetensors_of;

std::string const folder = WANE_SOURCE_DIR "/tests/bench/checkpoints/";

std::vector<decay_layer> layers_in(std::vector<std::string> const& files,
                                   layer_options const& how = {}) {
  return decay_layers(checkpoint(files), how);
}

std::vector<decay_layer> layers_of(std::vector<named_numbers> const& tensors,
                                   layer_options const& how = {}) {
  scratch const place;
  return layers_in({place.write("model.safetensors", safetensors_of(tensors))}, how);
}

// What NumPy made of the numbers that the public libraries wrote.
void expect_rates_of_numpy(std::string const& name, std::vector<decay_layer> const& layers) {
  auto const all = nlohmann::json::parse(content_of(folder + "rates.json"));
  auto const& expected = all.at(name);
  ASSERT_EQ(layers.size(), expected.size());
  for (auto const& layer : layers) {
    auto const& heads = expected.at(layer.name);
    ASSERT_EQ(layer.heads, std::ssize(heads));
    std::size_t i = 0;
    for (auto const& head : heads) {
      ASSERT_EQ(layer.channels, std::ssize(head));
      for (double const rate : head) {
        EXPECT_NEAR(layer.rates[i++], rate, 1e-14 * rate) << layer.name;  // a few roundings
      }
    }
  }
}

TEST(Checkpoint, OfMamba2) {
  auto const layers = layers_in({folder + "mamba2.safetensors"});
  expect_rates_of_numpy("mamba2.safetensors", layers);
  EXPECT_EQ(layers[0].formula, "r = e^A_log softplus(dt_bias)");
}

TEST(Checkpoint, OfMamba1HasAHeadForEachChannel) {
  auto const layers = layers_in({folder + "mamba1.safetensors"});
  expect_rates_of_numpy("mamba1.safetensors", layers);
  EXPECT_EQ(layers[0].heads, 12);
  EXPECT_EQ(layers[0].channels, 16);
}

TEST(Checkpoint, OfRwkv7InBfloat16) {
  expect_rates_of_numpy("rwkv7.safetensors", layers_in({folder + "rwkv7.safetensors"}));
}

TEST(Checkpoint, OfNumpyFilesHasLayersInTheFirstExtent) {
  auto const layers = layers_in({folder + "A_log.npy", folder + "dt_bias.npy"});
  expect_rates_of_numpy("A_log.npy", layers);
  auto const alone = layers_in({folder + "A_log.npy"});
  EXPECT_EQ(alone.at(0).formula, "r = e^A_log, no dt_bias: per unit of the step size");
}

TEST(Checkpoint, NamesOfOtherModels) {
  auto const layers = layers_in({folder + "others.safetensors"});
  ASSERT_EQ(layers.size(), 6u);
  std::vector<std::string> formulas;
  for (auto const& layer : layers) formulas.push_back(layer.formula);
  EXPECT_EQ(formulas, (std::vector<std::string>{
                          "r = -decay", "r = e^A_log softplus(dt_bias)",
                          "r = e^A_log softplus(dt_bias)", "r = softplus(-gk_proj.1.bias) / 16",
                          "r = e^-0.5 sigmoid(w_lora.lora.2.bias)", "r = e^time_decay"}));
  EXPECT_NEAR(layers[0].rates[0], -std::log1p(-0x1p-5), 1e-8);  // RetNet; float
  EXPECT_EQ(layers[2].heads, 2);                                // Kimi Delta Attention
  EXPECT_EQ(layers[2].channels, 3);
  EXPECT_NEAR(layers[3].rates[1], std::log1p(std::exp(-1.0)) / 16, 1e-15);  // GLA
  EXPECT_EQ(layers[4].channels, 64);
  EXPECT_NEAR(layers[5].rates[7], std::exp(1.0), 1e-15);  // RWKV-6
}

TEST(Checkpoint, OfCsvHasALayerForEachColumn) {
  scratch const place;
  auto const layers = layers_in(
      {place.write("decays.csv", "layers.10.decay,layers.9.decay\n0.5,0.25\n0.125,0.0625\n")});
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].name, "layers.9");  // in the order of the model
  EXPECT_NEAR(layers[1].rates[1], 3 * std::log(2.0), 1e-15);
  auto const one = layers_in({place.write("decay.csv", "0.5\n0.25\n")});
  EXPECT_NEAR(one.at(0).rates[1], 2 * std::log(2.0), 1e-15);
}

TEST(Checkpoint, PatternsReadOtherNames) {
  std::vector<named_numbers> const model{{"layer.0.mix.lambda", {2, 2}, {-1, -2, -3, -4}},
                                         {"layer.0.mix.other", {1}, {7}}};
  auto const layers = layers_of(model, {{{name_pattern("lambda$"), "log-rate"}}, 0});
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].formula, "r = e^x");
  EXPECT_EQ(layers[0].channels, 2);
  EXPECT_NEAR(layers[0].rates[3], std::exp(-4.0), 1e-17);
  EXPECT_THROW(layers_of(model), input_error);
}

TEST(Checkpoint, EachReading) {
  struct {
    std::string name;
    float stored;
    double rate;
  } const cases[]{{"rate", 0.5f, 0.5},
                  {"log-rate", -1, std::exp(-1.0)},
                  {"decay", 0.25f, std::log(4.0)},
                  {"log-decay", -0.5f, 0.5},
                  {"logit-decay", 0, std::log(2.0)},
                  {"gla", 0, std::log(2.0) / 16},
                  {"rwkv7", 0, std::exp(-0.5) / 2}};
  EXPECT_EQ(std::size(cases), decay_readings().size());
  for (auto const& one : cases) {
    auto const layers =
        layers_of({{"x.0", {1}, {one.stored}}}, {{{name_pattern("x"), one.name}}, 0});
    EXPECT_NEAR(layers.at(0).rates.at(0), one.rate, 1e-15) << one.name;
  }
}

TEST(Checkpoint, RatesAreLimitedAfterTheStep) {
  auto const layer =
      layers_of({{"l.0.A_log", {3}, {7, 8, -45}}, {"l.0.dt_bias", {3}, {-6, -9, 20}}}).at(0);
  // softplus(x) = e^x (1 - e^x/2 + ...)
  EXPECT_NEAR(layer.rates[0], std::exp(7.0) * std::log1p(std::exp(-6.0)), 1e-14);
  EXPECT_NEAR(layer.rates[1], std::exp(8.0) * std::log1p(std::exp(-9.0)), 1e-14);
  EXPECT_EQ(layer.rates[2], slowest_rate);
}

TEST(Checkpoint, GroupsOfHeadsAreHeads) {
  auto const layer = layers_of({{"l.0.mamba.A_log", {2, 1, 2}, {0, 1, 2, 3}},
                                {"l.0.mamba.dt_proj_bias", {2, 1}, {0, 0}}})
                         .at(0);
  EXPECT_EQ(layer.heads, 2);
  EXPECT_EQ(layer.channels, 2);
  EXPECT_NEAR(layer.rates[3], std::exp(3.0) * std::log(2.0), 1e-13);
}

TEST(Checkpoint, LayersInOneTensorHaveHeadsOfTheirOwn) {
  std::vector<float> const zeros(2 * 128);
  auto const layers = layers_of({{"att.w0", {2, 128}, zeros}});
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].channels, 64);
  EXPECT_EQ(layers_of({{"gk_proj.1.bias", {2, 3}, {0, 0, 0, 0, 0, 0}}}).at(1).channels, 3);
}

TEST(Checkpoint, MovingAveragesAreNoDecays) {
  auto const layers = layers_of({{"model_ema.decay", {}, {0.999f}}, {"l.0.decay", {1}, {0.5f}}});
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].name, "l.0");
}

TEST(Checkpoint, OfManyTensors) {
  std::vector<named_numbers> model;
  for (int i = 0; i < 20'000; ++i) model.push_back({"l." + std::to_string(i) + ".weight", {0}, {}});
  model.push_back({"l.7.decay", {1}, {0.5f}});
  EXPECT_EQ(layers_of(model).size(), 1u);
}

TEST(Checkpoint, HeadSize) {
  named_numbers const w0{"blocks.0.att.w0", {1, 1, 6}, {0, 1, 2, 3, 4, 5}};
  EXPECT_EQ(layers_of({w0}).at(0).heads, 1);  // not a multiple of 64
  EXPECT_EQ(layers_of({w0}, {{}, 2}).at(0).heads, 3);
  named_numbers const shaped{"blocks.0.att.r_k", {2, 3}, {0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(layers_of({w0, shaped}).at(0).channels, 3);
  EXPECT_THROW(layers_of({w0}, {{}, 4}), input_error);
}

// Decays of 1 and of 0 are legal; the rates stay numbers that a logarithm can take.
TEST(Checkpoint, NeverAndAtOnce) {
  auto const layer = layers_of({{"layers.0.decay", {2}, {1, 0}}}).at(0);
  EXPECT_EQ(layer.rates, (std::vector<double>{slowest_rate, fastest_rate}));
}

TEST(Checkpoint, RefusesWhatIsNoDecay) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::vector<named_numbers>> const cases{
      {{"layers.0.decay", {2}, {0.5f, 1.5f}}},   // grows
      {{"layers.0.decay", {2}, {0, 0}}},         // logs or factors
      {{"layers.0.decay", {2}, {0.5f, -0.5f}}},  // neither logs nor not
      {{"layers.0.decay", {2}, {0.5f, nan}}},    //
      {{"layers.0.A_log", {2}, {0, nan}}},       //
      {{"layers.0.A_log", {0}, {}}},             // nothing
      {{"layers.0.A_log", {3}, {0, 0, 0}}, {"layers.0.dt_bias", {2}, {0, 0}}},
      {{"layers.0.A_log", {2, 2}, {0, 0, 0, 0}}, {"layers.0.dt_bias", {4}, {0, 0, 0, 0}}},
      {{"layers.0.A_log", {2, 1, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0}},
       {"l.1.A_log", {2, 2, 2, 2}, std::vector<float>(16)}},
      {{"ffn.3.w0", {2}, {0, 0}}},  // not RWKV's
      {}};
  for (auto const& tensors : cases) EXPECT_THROW(layers_of(tensors), input_error);
}

std::string tensor_entry(std::string const& dtype, std::string const& shape,
                         std::string const& offsets) {
  return R"({"l.0.A_log":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}}";
}

TEST(Checkpoint, HostileHeaders) {
  std::string const four(4, '\0'), f32 = "\"F32\"";
  std::string ones;
  for (int i = 0; i < 16; ++i) ones += "1,";
  struct {
    std::string file, said;
  } const cases[]{
      {"", "empty"},
      {"1234567", "fewer than 8"},
      {safetensors_of("{}", "", 3), "header is said to have 3"},
      {safetensors_of("{}", "", ~std::uint64_t{0}), "header is said to have"},
      {safetensors_of("{"), "not JSON"},
      {safetensors_of("[]"), "no JSON object"},
      {safetensors_of("{\"a\":" + std::string(100'000, '[')), "more than 4 deep"},
      {safetensors_of("{}" + std::string(1, '\0') + "{"), "zero byte"},
      {safetensors_of(R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})",
                      four),
       "names 'shape' twice"},
      {safetensors_of(R"({"a":1})"), "lacks a dtype"},
      {safetensors_of(R"({"a":{"dtype":"F32"}})"), "lacks a dtype"},
      {safetensors_of(tensor_entry("7", "[1]", "[0,4]"), four), "lacks a dtype"},
      {safetensors_of(tensor_entry(f32, "1", "[0,4]"), four), "lacks a dtype"},
      {safetensors_of(tensor_entry(f32, "[1]", "[0,4,8]"), four), "lacks a dtype"},
      {safetensors_of(tensor_entry(f32, "[1]", "[0,8]"), four), "bytes 0 to 8 of 4"},
      {safetensors_of(tensor_entry(f32, "[1]", "[4,0]"), four), "bytes 4 to 0 of 4"},
      {safetensors_of(tensor_entry(f32, "[1]", "[-4,0]"), four), "no whole number"},
      {safetensors_of(tensor_entry(f32, "[1.0]", "[0,4]"), four), "no whole number"},
      {safetensors_of(tensor_entry(f32, "[18446744073709551615]", "[0,4]"), four), "no whole"},
      {safetensors_of(tensor_entry(f32, "[4611686018427387904,4]", "[0,4]"), four), "counted"},
      {safetensors_of(tensor_entry(f32, "[4611686018427387904]", "[0,4]"), four), "has 4 bytes"},
      {safetensors_of(tensor_entry(f32, "[2]", "[0,4]"), four), "has 4 bytes"},
      {safetensors_of(tensor_entry("\"I32\"", "[1]", "[0,4]"), four), "of type 'I32'"},
      {safetensors_of(tensor_entry("\"F8_E4M3\"", "[1]", "[0,4]"), four), "of type 'F8_E4M3'"},
      {safetensors_of(tensor_entry(f32, "[1]", "[4,8]"), four + four), "begins at byte 4"},
      {safetensors_of(tensor_entry(f32, "[1]", "[0,4]"), four + four), "end at byte 4 of 8"},
      {safetensors_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                      R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
       "twice"},
      {safetensors_of("{\"" + std::string(2000, 'n') +
                      R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
       "more than 1024"},
      {safetensors_of(R"({"a\u0000b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
       "zero byte"},
      {safetensors_of(tensor_entry(f32, "[" + ones + "1]", "[0,4]"), four), "16 extents"},
      {safetensors_of(R"({"__metadata__":{"format":"pt"}})"), "no tensor of decays"},
  };
  scratch const place;
  for (auto const& one : cases) {
    auto const path = place.write("model.safetensors", one.file);
    try {
      layers_in({path});
      ADD_FAILURE() << "accepted, though: " << one.said;
    } catch (input_error const& problem) {
      EXPECT_NE(std::string(problem.what()).find(one.said), std::string::npos) << problem.what();
    }
  }
}

std::string npy_of(std::string const& header, std::string const& data, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i));
  }
  return file + header + data;
}

TEST(Checkpoint, NumpyFiles) {
  std::string const four(4, '\0');
  auto const header = [](std::string const& descr, std::string const& shape,
                         std::string const& fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  };
  scratch const place;
  auto const read = [&](std::string const& content) {
    return layers_in({place.write("A_log.npy", content)});
  };
  EXPECT_EQ(read(npy_of(header("<f4", "(1,)"), four)).at(0).rates.at(0), 1);
  EXPECT_EQ(read(npy_of(header("<f2", "(2,)"), four, 2)).at(0).rates.at(1), 1);
  std::string const big_endian("\x3f\x80\0\0", 4);  // 1, of which a decay rate e is made
  EXPECT_EQ(
      read(npy_of(header(">f4", "(1,)"), big_endian)).at(0).rates,
      read(npy_of(header("<f4", "(1,)"), {big_endian.rbegin(), big_endian.rend()})).at(0).rates);
  EXPECT_NEAR(read(npy_of(header(">f4", "(1,)"), big_endian)).at(0).rates.at(0), std::exp(1),
              1e-15);
  std::string const cases[]{"\x93NUMP",
                            "\x93NUMPY\x01",
                            npy_of("", four),
                            npy_of(header(">i4", "(1,)"), four),
                            npy_of(header("=f4", "(1,)"), four),
                            npy_of(header("f4", "(1,)"), four),
                            npy_of(header("<i4", "(1,)"), four),
                            npy_of(header("<f4", "(2,)"), four),
                            npy_of(header("<f4", "(-1,)"), four),
                            npy_of(header("<f4", "(1"), four),
                            npy_of(header("<f4", "(9223372036854775807, 4)"), four),
                            npy_of(header("<f4", "(99999999999999999999,)"), four),
                            npy_of(header("<f4", "(1, 1)", "True"), four),
                            npy_of(header("<f4", "(1,)", "1"), four),
                            npy_of("{'descr': '<f4', 'shape': (1,), }", four),
                            npy_of(header("<f4", "(1,)"), four, 9),
                            npy_of(header("<f4", "(1,)"), four, 0),
                            std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12)};
  for (auto const& content : cases) EXPECT_THROW(read(content), input_error) << content;
}

// Whatever a file holds, it is read or refused.
TEST(Checkpoint, DamagedFilesAreReadOrRefused) {
  scratch const place;
  std::mt19937 bits(1);
  int refused = 0;
  for (std::string const name : {"mamba2.safetensors", "A_log.npy"}) {
    std::string const sound = content_of(folder + name);
    for (int i = 0; i < 400; ++i) {
      std::string damaged = sound;
      for (unsigned n = 1 + bits() % 4; n > 0; --n) {
        damaged[bits() % std::min<std::size_t>(damaged.size(), 700)] = static_cast<char>(bits());
      }
      if (i % 4 == 0) damaged.resize(bits() % damaged.size());
      try {
        layers_in({place.write(name, damaged)});
      } catch (input_error const&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 400);
}

TEST(Checkpoint, FilesThatCannotBeRead) {
  scratch const place;
  EXPECT_THROW(layers_in({place.file("none.safetensors")}), input_error);
  EXPECT_THROW(layers_in({place.write("model.gguf", "x")}), input_error);
  std::filesystem::create_directory(place.file("folder.safetensors"));
  EXPECT_THROW(layers_in({place.file("folder.safetensors")}), input_error);
  std::string const twice = folder + "mamba2.safetensors";
  EXPECT_THROW(layers_in({twice, twice}), input_error);
  EXPECT_THROW(layers_in({place.write("t.csv", "0.5,0.5\n")}), input_error);  // no names
}

}  // namespace
}  // namespace wane::bench
