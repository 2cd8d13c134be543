#include "serve/multipart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace saccade::serve {
namespace {

constexpr const char* kFile = "form-data; name=\"image\"; filename=\"a.png\"";

/// A part of a form with the boundary xy.
std::string part(std::string_view disposition, std::string_view content,
                 std::string_view header = "Content-Disposition") {
  return fmt::format("--xy\r\n{}: {}\r\nContent-Type: image/png\r\n\r\n{}\r\n", header, disposition, content);
}

/// What image_in() finds in a form of PARTS, or its error.
std::string found(const std::string& parts, std::string_view type = "multipart/form-data; boundary=xy") {
  HttpRequest request;
  request.headers.emplace_back("Content-Type", type);
  request.body = parts + "--xy--\r\n";
  try {
    return std::string(image_in(request));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
}

TEST(Multipart, TheFileOfAFormIsTheImage) {
  EXPECT_EQ(found(part("form-data; name=\"note\"", "x") + part(kFile, "\x89PNG\r\n--x")), "\x89PNG\r\n--x");
  EXPECT_EQ(found(part(kFile, "")), "");
  EXPECT_EQ(found(part(kFile, "y"), "image/png"), part(kFile, "y") + "--xy--\r\n");
}

TEST(Multipart, TheCaseOfNamesDoesNotMatter) {
  EXPECT_EQ(found(part(kFile, "y"), "Multipart/Form-Data; Boundary=xy"), "y");
  EXPECT_EQ(found(part("Form-Data; Name=a; FileName=b", "y", "CONTENT-DISPOSITION")), "y");
  // That of a boundary does.
  EXPECT_THAT(found(part(kFile, "y"), "multipart/form-data; boundary=XY"), testing::HasSubstr("has no file"));
}

TEST(Multipart, AFileHasOneOfTwoNames) {
  EXPECT_EQ(found(part("form-data; name=a; filename*=utf-8''x", "y")), "y");
  EXPECT_EQ(found(part("form-data; filename=\"a;\\\"b\"; name=a", "y")), "y");
  EXPECT_EQ(found(part("form-data; name=\"a\";\r\n filename=\"b\"", "y")), "y") << "on two lines";
  for (const char* field : {"form-data; name=\"filename=\"", "form-data; name=\"; filename=a\"",
                            "form-data; thefilename=a", "form-data; filename; name=a", "form-data", ""})
    EXPECT_THAT(found(part(field, "y")), testing::HasSubstr("has no file")) << field;
  EXPECT_THAT(found(part(kFile, "y", "X-Content-Disposition")), testing::HasSubstr("has no file"));
}

TEST(Multipart, ABoundaryIsAParameterOfTheType) {
  for (const char* type :
       {"multipart/form-data;boundary=xy", "multipart/form-data; boundary=\"xy\"",
        "multipart/form-data; boundary=xy ; a=b", "multipart/form-data; a=\"; boundary=z\"; boundary=xy",
        "multipart/form-data; theboundary=z; boundary=xy"})
    EXPECT_EQ(found(part(kFile, "y"), type), "y") << type;
  const std::string most(71, 'x');
  for (const std::string& type :
       {std::string("multipart/form-data"), std::string("multipart/form-data; boundary="),
        std::string("multipart/form-data; boundary=\"xy"), "multipart/form-data; boundary=" + most})
    EXPECT_THAT(found(part(kFile, "y"), type), testing::HasSubstr("no valid boundary")) << type;
}

TEST(Multipart, OneFileIsSent) {
  EXPECT_THAT(found(part(kFile, "y") + part("form-data; filename*=utf-8''x", "z")),
              testing::HasSubstr("several files"));
  EXPECT_THAT(found(part("form-data; name=a", "y")), testing::HasSubstr("has no file"));
}

}  // namespace
}  // namespace saccade::serve
